// SPDX-License-Identifier: Apache-2.0
// Fills the buffers of collectives when this process is the only one.
//
// All ranks count as holding what this rank holds. A gather repeats this rank's part, a scatter keeps its
// slice, and a sum is its own value. Programs that compare ranks (DDP) then find what they expect.
//
//   gather of [3] by 4 ranks: [3 3 3 3]    scatter of [1 2 3 4], rank 2: [3]    sum over ranks of [3]: [3]
//
// torch's all_gather on a list is a group of broadcasts, one per rank. In a group, data from another rank is
// this rank's broadcast in the same group.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::simulated {

// Copies in device memory by cuMemcpyAsync, unless both addresses are equal.
void CopyOnDevice(void* to, const void* from, size_t bytes, void* stream);

void BeginGroup();
bool InGroup();
// True if the next EndGroup ends the outermost group.
bool IsOutermostGroup();
// Carries out what was deferred, if the outermost group ends.
void EndGroup();
// Call when this rank sends these bytes. `to_itself`: also to itself.
void Sent(const void* from, size_t bytes, void* stream, bool to_itself);
// Call when bytes of another rank are to arrive at `to`. By the end of the group, they are taken from bytes
// of the same size that this rank sends. Bytes sent to itself come first.
void Receive(void* to, size_t bytes, void* stream);

}  // namespace vramscope::simulated
