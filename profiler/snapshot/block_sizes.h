// SPDX-License-Identifier: Apache-2.0
// The sizes of blocks that no longer exist in a snapshot, computed by the allocator model.
//
// Events have requested bytes. A block is larger if its remainder is too small to split off. With the model's
// sizes, peaks equal PyTorch's own.
#pragma once

#include "profiler/snapshot/snapshot.h"
#include "profiler/snapshot/timeline.h"

namespace vramscope::snapshot {

// Replays the events and adds block sizes to `timeline`, which must be that of `device`. If the replay
// diverges, adds only the sizes before that. Does nothing for files without segments and for contradictory
// files.
void AddBlockSizes(const Snapshot& snapshot, uint32_t device, DeviceTimeline* timeline);

}  // namespace vramscope::snapshot
