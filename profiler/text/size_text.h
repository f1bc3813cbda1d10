// SPDX-License-Identifier: Apache-2.0
// Parses sizes on the command line.
#pragma once

#include <cstdint>
#include <string>

#include "trace_format/result.h"

namespace vramscope::text {

// "24GiB" is 24 x 1024^3 bytes, "24GB" 24 x 1000^3, "4096B" bytes; "1.5GiB" works too. The result is never 0.
// A number without a unit is refused, and so is the ambiguous "24G". `option` (without dashes) is for the
// error.
Result<uint64_t> ParseSize(const std::string& option, const std::string& text);

}  // namespace vramscope::text
