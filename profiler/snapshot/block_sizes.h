// SPDX-License-Identifier: Apache-2.0
// The sizes of blocks that no longer exist in a snapshot, as computed by the allocator model.
//
// Why: events carry requested bytes, and a block may be larger: a remainder that is not worth splitting off
// stays with it. So peaks that count requests are lower than PyTorch's own. With the model's sizes they are
// equal.
#pragma once

#include "profiler/snapshot/snapshot.h"
#include "profiler/snapshot/timeline.h"

namespace vramscope::snapshot {

// Adds the block sizes from a replay of the events to `timeline`, which must be that of `device`. Adds all
// sizes if the replay is exact, otherwise those before the first divergence. Does nothing for a file without
// segments, or one that contradicts itself. Takes as long as Replay.
void AddBlockSizes(const Snapshot& snapshot, uint32_t device, DeviceTimeline* timeline);

}  // namespace vramscope::snapshot
