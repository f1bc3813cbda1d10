// SPDX-License-Identifier: Apache-2.0
// Parses a size in bytes from the command line.
#pragma once

#include <cstdint>
#include <string>

#include "trace_format/result.h"

namespace vramscope::text {

// Returns the size in bytes: "24GiB" is 24 x 1024^3 bytes, "24GB" is 24 x 1000^3 bytes, "4096B" is 4096
// bytes. "1.5GiB" is valid too. Returns an error for 0, for a number without a unit, and for "24G", which is
// ambiguous. `option`: name of the option (without dashes) in the error's text.
Result<uint64_t> ParseSize(const std::string& option, const std::string& text);

}  // namespace vramscope::text
