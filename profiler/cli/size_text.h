// SPDX-License-Identifier: Apache-2.0
// Sizes as people give them on the command line.
#pragma once

#include <cstdint>
#include <string>

#include "trace_format/result.h"

namespace vramscope::cli {

// "10GiB", "500M", "4096": binary units, as everywhere here; never 0. `option` (without dashes) is for the
// error's sentence.
Result<uint64_t> ParseSize(const std::string& option, const std::string& text);

}  // namespace vramscope::cli
