// SPDX-License-Identifier: Apache-2.0
// The blocks of one device of a run as items to pack.
#pragma once

#include "profiler/model/run.h"
#include "profiler/packing/csv.h"

namespace vramscope::packing {

// Times are event numbers. A block that is never freed ends after the last event. Sizes are requested bytes,
// rounded up as the allocator aligns them, or else block sizes. Names are 1-based allocation numbers.
[[nodiscard]] NamedItems ItemsOf(const model::Run& run, model::DeviceIndex device);

}  // namespace vramscope::packing
