// SPDX-License-Identifier: Apache-2.0
// What to say of an exception that nobody expected: memory that is not there is the machine's, all else ours.
#pragma once

#include <exception>
#include <string>

namespace vramscope::text {

// A sentence that begins in lower case; `what` is what was being done, "report run.vms".
[[nodiscard]] std::string SentenceOf(const std::exception& failure, const std::string& what);

}  // namespace vramscope::text
