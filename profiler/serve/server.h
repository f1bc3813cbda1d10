// SPDX-License-Identifier: Apache-2.0
// The HTTP server of `vramscope serve` and `vramscope top --prometheus`: HTTP/1.1 on one address, in one
// thread.
//
// A request may have at most 8 KiB of header and no body. There may be 64 connections. A connection is closed
// after 30 seconds without data. The default address is the loopback interface.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "profiler/serve/site.h"
#include "trace_format/result.h"

namespace vramscope::serve {

inline constexpr const char* kLoopback = "127.0.0.1";
// Returns true if only programs on this machine can connect to `address`; nullopt if `address` is not an IPv4
// or IPv6 address.
[[nodiscard]] std::optional<bool> IsLoopback(const std::string& address);

using Answerer = std::function<Answer(const Request&)>;

// Serves until SIGINT or SIGTERM. With `port` 0, any free port is used. `ready` is called with the port as
// soon as requests are answered. Fails if the address or the port cannot be used.
[[nodiscard]] Status ServeUntilSignal(const Answerer& answer, const std::string& address, uint16_t port,
                                      const std::function<void(uint16_t)>& ready);
[[nodiscard]] Status ServeUntilSignal(const Site& site, const std::string& address, uint16_t port,
                                      const std::function<void(uint16_t)>& ready);

// For the fuzz target. Answers every complete request in `bytes`, and returns the number of requests.
size_t AnswerBytes(const Site& site, std::string_view bytes);

}  // namespace vramscope::serve
