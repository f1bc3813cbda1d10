// SPDX-License-Identifier: Apache-2.0
// Fills the receive buffers of NCCL collectives when only one process of the job runs.
//
// The data of the missing ranks is assumed to equal the data of this rank. So a gather repeats this rank's
// data, a scatter takes this rank's slice, and a sum returns this rank's data unchanged. Programs that
// compare ranks, such as DDP, then find equal values.
//
//   gather of [3] by 4 ranks: [3 3 3 3]    scatter of [1 2 3 4], rank 2: [3]    sum over ranks of [3]: [3]
//
// torch.distributed.all_gather on a list calls NCCL with a group of broadcasts, one per rank. For a broadcast
// from another rank, the data is taken from this rank's own broadcast in the same group.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::simulated {

// Copies within device memory by cuMemcpyAsync. Does nothing if both addresses are equal.
void CopyOnDevice(void* to, const void* from, size_t bytes, void* stream);

void BeginGroup();
bool InGroup();
// True if the next EndGroup ends the outermost group.
bool IsOutermostGroup();
// Ends a group. At the end of the outermost group, the copies for all Receive calls are made.
void EndGroup();
// Call this when this rank sends `bytes` at `from` in a group. `to_itself` = true if this rank is also a
// receiver.
void Sent(const void* from, size_t bytes, void* stream, bool to_itself);
// Call this when `to` is to receive `bytes` from another rank in a group. At the end of the group, `to` gets
// data of the same size that this rank has sent. Data that this rank has sent to itself is preferred.
void Receive(void* to, size_t bytes, void* stream);

}  // namespace vramscope::simulated
