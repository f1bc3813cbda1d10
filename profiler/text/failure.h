// SPDX-License-Identifier: Apache-2.0
// The message for an unexpected exception. Asks for more memory if that ran out. Reports any other exception
// as a bug in vramscope.
#pragma once

#include <exception>
#include <functional>
#include <string>

namespace vramscope::text {

// Returns the message, which may begin in lower case. `what` is the task that failed: "report run.vms".
[[nodiscard]] std::string SentenceOf(const std::exception& failure, const std::string& what);

// Runs `work`. Returns SentenceOf() if it threw an exception, else "".
[[nodiscard]] std::string FailureOf(const std::function<void()>& work, const std::string& what);

}  // namespace vramscope::text
