// SPDX-License-Identifier: Apache-2.0
// The sockets of `vramscope serve` and `top --prometheus`: HTTP/1.1 on one address, in one thread.
//
// At most 8 KiB of header, no body, and 64 connections. A connection is closed after 30 silent seconds. The
// default address is the loopback interface.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "profiler/serve/site.h"
#include "trace_format/result.h"

namespace vramscope::serve {

inline constexpr const char* kLoopback = "127.0.0.1";
// True if only this machine can reach that address; nullopt if the text is not an IPv4 or IPv6 address.
[[nodiscard]] std::optional<bool> IsLoopback(const std::string& address);

using Answerer = std::function<Answer(const Request&)>;

// Serves until SIGINT or SIGTERM. `port` 0: any free port. `ready` gets the port when requests are answered.
// Fails if the address and port cannot be used.
[[nodiscard]] Status ServeUntilSignal(const Answerer& answer, const std::string& address, uint16_t port,
                                      const std::function<void(uint16_t)>& ready);
[[nodiscard]] Status ServeUntilSignal(const Site& site, const std::string& address, uint16_t port,
                                      const std::function<void(uint16_t)>& ready);

// For the fuzz target: answers every complete request in `bytes`. Returns their number.
size_t AnswerBytes(const Site& site, std::string_view bytes);

}  // namespace vramscope::serve
