// SPDX-License-Identifier: Apache-2.0
// The message for an unexpected exception: lack of memory is the machine's problem, everything else is our
// bug.
#pragma once

#include <exception>
#include <string>

namespace vramscope::text {

// A sentence that begins in lower case; `what` was being done: "report run.vms".
[[nodiscard]] std::string SentenceOf(const std::exception& failure, const std::string& what);

}  // namespace vramscope::text
