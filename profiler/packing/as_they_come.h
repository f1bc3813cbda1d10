// SPDX-License-Identifier: Apache-2.0
// Packs items in order of time, without knowledge of the future: best fit among the free gaps, or on top.
//
// Used if first fit takes too long. A million items take a second. If time runs out here too, the remaining
// items are stacked on top.
#pragma once

#include <span>

#include "profiler/packing/deadline.h"
#include "profiler/packing/instance.h"

namespace vramscope::packing {

// O(n log n).
[[nodiscard]] Packing AsTheyCome(std::span<const Item> items, Deadline& deadline);

}  // namespace vramscope::packing
