// SPDX-License-Identifier: Apache-2.0
// A number of things that a step is asked to have, or a factor of what it has.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace_format/result.h"

namespace vramscope::whatif {

// "16", or "0.5x" of `recorded`, as a whole number from 1 on. `lever` and `things` are for the sentence of an
// error: "batch", "samples".
[[nodiscard]] Result<int64_t> ParseAmount(std::string_view lever, std::string_view things,
                                          std::string_view value, int64_t recorded);

}  // namespace vramscope::whatif
