// SPDX-License-Identifier: Apache-2.0
// Makes the message for the user after an unexpected exception. If memory ran out, the message recommends
// more memory. After any other exception, it reports a bug in vramscope.
#pragma once

#include <exception>
#include <functional>
#include <string>

namespace vramscope::text {

// Returns the message, which may begin in lower case. `what` is the task that failed: "report run.vms".
[[nodiscard]] std::string SentenceOf(const std::exception& failure, const std::string& what);

// Runs `work`. If `work` throws an exception, returns SentenceOf() of the exception; otherwise "".
[[nodiscard]] std::string FailureOf(const std::function<void()>& work, const std::string& what);

}  // namespace vramscope::text
