// SPDX-License-Identifier: Apache-2.0
// Fills the buffers of collectives when this process is the only one.
//
// The rule: all ranks hold what this one holds. So a gather repeats this rank's part, a scatter keeps its
// slice, and a sum is its own value. Programs that compare ranks (DDP checks that all have the same
// parameters) then find what they expect.
//
//   gather of [3] by 4 ranks: [3 3 3 3]    scatter of [1 2 3 4], rank 2: [3]    sum over ranks of [3]: [3]
//
// torch's all_gather on a list is a group of broadcasts, one from each rank. Inside a group, the data that
// another rank broadcasts is taken from this rank's broadcast in the same group.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::simulated {

// A copy in device memory by cuMemcpyAsync; nothing if source and destination are equal.
void CopyOnDevice(void* to, const void* from, size_t bytes, void* stream);

void BeginGroup();
bool InGroup();
// True if the next EndGroup ends the outermost group.
bool IsOutermostGroup();
// If the outermost group ends, carries out what was deferred.
void EndGroup();
// This rank sends these bytes; `to_itself` if it is the receiver, or one of the receivers.
void Sent(const void* from, size_t bytes, void* stream, bool to_itself);
// Bytes of another rank are to arrive here. They are taken from bytes of the same size that this rank sends,
// now or by the end of the group. Bytes sent to itself come first: the other ranks hold the same, and this is
// what they would send here.
void Receive(void* to, size_t bytes, void* stream);

}  // namespace vramscope::simulated
