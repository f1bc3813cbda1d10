// SPDX-License-Identifier: Apache-2.0
// Packs items in order of time, like an allocator that does not know the future: best fit among the free
// gaps, or on top.
//
// Why: this is the answer if the time is up before first fit has finished. A million items take a second. If
// even that is too long, the remaining items are stacked on top.
#pragma once

#include <span>

#include "profiler/packing/deadline.h"
#include "profiler/packing/instance.h"

namespace vramscope::packing {

// O(n log n).
[[nodiscard]] Packing AsTheyCome(std::span<const Item> items, Deadline& deadline);

}  // namespace vramscope::packing
