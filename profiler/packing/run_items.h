// SPDX-License-Identifier: Apache-2.0
// The blocks of one device of a run as items to pack.
#pragma once

#include "profiler/model/run.h"
#include "profiler/packing/csv.h"

namespace vramscope::packing {

// Times are numbers of events. A block that is alive at the end ends after the last event. Sizes are what the
// program asked for where that is known, rounded up to 512 bytes as PyTorch aligns them, else those of the
// blocks. Names are allocation numbers, from 1.
[[nodiscard]] NamedItems ItemsOf(const model::Run& run, model::DeviceIndex device);

}  // namespace vramscope::packing
