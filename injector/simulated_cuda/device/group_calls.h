// SPDX-License-Identifier: Apache-2.0
// How the ranks of a communicator learn which of them form a new one: each tells its color and key in a file
// that all processes of the run append to, and waits for the others, as NCCL does on its bootstrap network.
//
//   parent  call  rank  color  key      rank 2 of 4 asks for color 7: when the fourth line of (parent, call)
//   9f31       1     0      5    0      is there, its group is {2, 3}
//   9f31       1     2      7    0
//   9f31       1     1      5    1
//   9f31       1     3      7    1
//
// A file instead of a connection, because the processes of a run already have a folder together, and a rank
// that is killed leaves nothing open. Lines are appended whole (O_APPEND), so no lock is needed.
#pragma once

#include <cstdint>
#include <vector>

namespace vramscope::simulated {

struct GroupCall {
  uint64_t parent;  // which communicator
  uint32_t call;    // 1 = the first split of it; 0 = this rank has joined it
  int rank;
  int color, key;

  bool operator==(const GroupCall&) const = default;
};

// False: the file cannot be written.
bool Append(const char* file, const GroupCall& call);

// All that was told of one call until now, in the file's order. Empty when the file cannot be read.
std::vector<GroupCall> ReadCalls(const char* file, uint64_t parent, uint32_t call);

// How long a rank waits for the others, in milliseconds: while nobody else has joined the parent, and else.
struct Patience {
  int alone, together;
};

// What all `ranks` of the parent told of a call, by rank; empty when some did not come in time.
std::vector<GroupCall> AwaitAll(const char* file, uint64_t parent, uint32_t call, int ranks,
                                Patience patience);

// The rank and size of the group that `own` is in: its members in the order of their keys, and of their ranks
// where keys are equal (NCCL's documentation of ncclCommSplit).
struct GroupPlace {
  int ranks, rank;
};
GroupPlace PlaceIn(const std::vector<GroupCall>& all, const GroupCall& own);

}  // namespace vramscope::simulated
