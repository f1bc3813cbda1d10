// SPDX-License-Identifier: Apache-2.0
// The sizes of a snapshot's blocks that are gone, as the model of the allocator gave them.
//
// Why: events carry requested bytes, and a block may be larger: what was not worth splitting off stays with
// it. Peaks that count requests are therefore below those that PyTorch counted; by the model they are the
// same.
#pragma once

#include "profiler/snapshot/snapshot.h"
#include "profiler/snapshot/timeline.h"

namespace vramscope::snapshot {

// Adds to `timeline`, which is that of `device`, what a replay of its events tells: all sizes when the replay
// is exact, else those before the first divergence. Does nothing for a file without segments, or one that
// contradicts itself. Time: that of Replay.
void AddBlockSizes(const Snapshot& snapshot, uint32_t device, DeviceTimeline* timeline);

}  // namespace vramscope::snapshot
