// SPDX-License-Identifier: Apache-2.0
// Converts the blocks of one device of a run to items for the packing algorithms.
#pragma once

#include "profiler/model/run.h"
#include "profiler/packing/csv.h"

namespace vramscope::packing {

// The time of an item is measured in event indexes. A block that is never freed ends after the last event.
// The size is the requested size, rounded up to the allocator's alignment; the block size if the requested
// size is unknown. The name is the 1-based allocation number.
[[nodiscard]] NamedItems ItemsOf(const model::Run& run, model::DeviceIndex device);

}  // namespace vramscope::packing
