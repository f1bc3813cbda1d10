// SPDX-License-Identifier: Apache-2.0
// Packs items in the order of their times, as an allocator would that knows nothing of what is to come: best
// fit among the stretches that are free, or on top.
//
// Why: it is the packing that is there when time is up before first fit has ended. A million items take a
// second; when even that is too long, the rest is stacked.
#pragma once

#include <span>

#include "profiler/packing/deadline.h"
#include "profiler/packing/instance.h"

namespace vramscope::packing {

// O(n log n).
[[nodiscard]] Packing AsTheyCome(std::span<const Item> items, Deadline& deadline);

}  // namespace vramscope::packing
