// SPDX-License-Identifier: Apache-2.0
// What collectives leave in their buffers when this process is the only one that is there.
//
// The rule: all ranks hold what this one holds. So a gather repeats the own part, a scatter keeps the own
// slice, and a sum is the own value. It makes programs that compare ranks (DDP checks that all have the same
// parameters) find what they expect.
//
// torch's all_gather on a list is a group of broadcasts, one from each rank: inside a group, what another
// rank broadcasts is taken from what this rank broadcast in the same group.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::simulated {

// A copy in device memory as cuMemcpyAsync makes it; nothing when the two are one.
void CopyOnDevice(void* to, const void* from, size_t bytes, void* stream);

void BeginGroup();
bool InGroup();
// The next EndGroup ends all.
bool IsOutermostGroup();
// Carries out what was put off, when the outermost group ends.
void EndGroup();
// This rank sends these bytes; `to_itself` when it is the receiver, or one of all.
void Sent(const void* from, size_t bytes, void* stream, bool to_itself);
// Another rank's bytes are to arrive here: what this rank has sent with the same size, now or by the end of
// the group; to itself rather than to another one, for that is what the others, who hold the same, send here.
void Receive(void* to, size_t bytes, void* stream);

}  // namespace vramscope::simulated
