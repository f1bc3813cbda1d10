// SPDX-License-Identifier: Apache-2.0
// A fast packing algorithm for large instances. It places items in order of time, without knowledge of later
// items. Each item goes into the smallest free gap that is large enough, or on top if there is no such gap.
//
// The algorithm is used if first fit takes too long. A million items take a second. If the deadline passes
// here too, the remaining items are stacked on top.
#pragma once

#include <span>

#include "profiler/packing/deadline.h"
#include "profiler/packing/instance.h"

namespace vramscope::packing {

// Returns a packing of all items. O(n log n).
[[nodiscard]] Packing AsTheyCome(std::span<const Item> items, Deadline& deadline);

}  // namespace vramscope::packing
