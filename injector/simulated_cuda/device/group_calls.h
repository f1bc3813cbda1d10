// SPDX-License-Identifier: Apache-2.0
// The file through which the ranks of a communicator form new ones. Each rank appends its color and key and
// waits for the others, as NCCL does on its bootstrap network. All processes of the run share it.
//
//   parent  call  rank  color  key      rank 2 of 4 has color 7: once the fourth line of (parent, call)
//   9f31       1     0      5    0      exists, its group is {2, 3}
//   9f31       1     2      7    0
//   9f31       1     1      5    1
//   9f31       1     3      7    1
//
// Lines are appended whole (O_APPEND). So there is no lock that a killed rank could leave held.
#pragma once

#include <cstdint>
#include <vector>

namespace vramscope::simulated {

struct GroupCall {
  uint64_t parent;  // which communicator
  uint32_t call;    // 1 = first split of the parent; 0 = this rank has joined the parent
  int rank;
  int color, key;

  bool operator==(const GroupCall&) const = default;
};

// False if the file cannot be written.
bool Append(const char* file, const GroupCall& call);

// All lines of one call so far, in the file's order. Empty if unreadable.
std::vector<GroupCall> ReadCalls(const char* file, uint64_t parent, uint32_t call);

// How long a rank waits, in milliseconds: `alone` until another rank has joined the parent, then `together`.
struct Patience {
  int alone, together;
};

// The lines of all `ranks` for a call, by rank; empty if some did not come in time.
std::vector<GroupCall> AwaitAll(const char* file, uint64_t parent, uint32_t call, int ranks,
                                Patience patience);

// Rank and size of the group of `own`. Ordered by key, then rank (NCCL's documentation of ncclCommSplit).
struct GroupPlace {
  int ranks, rank;
};
GroupPlace PlaceIn(const std::vector<GroupCall>& all, const GroupCall& own);

}  // namespace vramscope::simulated
