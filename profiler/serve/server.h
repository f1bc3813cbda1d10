// SPDX-License-Identifier: Apache-2.0
// The sockets of `vramscope serve` and of `top --prometheus`: HTTP/1.1 on one address (default: the loopback
// interface), in one thread.
//
// A request has at most 8 KiB of header and no body. A connection that is silent for 30 seconds is closed.
// At most 64 connections are open. A file is sent in pieces, so a large trace costs no memory.
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

// Serves until SIGINT or SIGTERM. `port` 0 takes any free port. `ready` is called with the port as soon as
// requests are answered. Fails if address and port cannot be used.
[[nodiscard]] Status ServeUntilSignal(const Answerer& answer, const std::string& address, uint16_t port,
                                      const std::function<void(uint16_t)>& ready);
[[nodiscard]] Status ServeUntilSignal(const Site& site, const std::string& address, uint16_t port,
                                      const std::function<void(uint16_t)>& ready);

// For the fuzz target: answers every complete request in `bytes`, as for a client that sends them and then
// waits. Returns the number of requests.
size_t AnswerBytes(const Site& site, std::string_view bytes);

}  // namespace vramscope::serve
