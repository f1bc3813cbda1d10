// SPDX-License-Identifier: Apache-2.0
// Computes the sizes of freed blocks in a snapshot with the allocator model.
//
// The events of a snapshot contain only requested bytes. A block can be larger, because a small remainder of
// a free block is not split off. With the computed sizes, the peaks equal PyTorch's own peaks.
#pragma once

#include "profiler/snapshot/snapshot.h"
#include "profiler/snapshot/timeline.h"

namespace vramscope::snapshot {

// Replays the events and adds the sizes of blocks to `timeline`, the timeline of `device`. If the replay
// diverges from the recording, only the sizes before the divergence are added. Does nothing if the file has
// no segments or contradicts itself.
void AddBlockSizes(const Snapshot& snapshot, uint32_t device, DeviceTimeline* timeline);

}  // namespace vramscope::snapshot
