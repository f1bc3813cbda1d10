// SPDX-License-Identifier: Apache-2.0
// Splits a simulated NCCL communicator (ncclCommSplit) through a file that all processes of the run share.
// Each rank appends a line with its color and key, and waits for the lines of the other ranks. Real NCCL
// exchanges colors and keys on its bootstrap network.
//
//   parent  call  rank  color  key      Rank 2 of 4 has color 7. After all four ranks have appended their
//   9f31       1     0      5    0      lines, the group of rank 2 is {2, 3}.
//   9f31       1     2      7    0
//   9f31       1     1      5    1
//   9f31       1     3      7    1
//
// Each line is appended with one write (O_APPEND). Therefore no lock is needed, which a killed rank could
// leave locked.
#pragma once

#include <cstdint>
#include <vector>

namespace vramscope::simulated {

struct GroupCall {
  uint64_t parent;  // id of the communicator that is split
  uint32_t call;    // 1 = first split of `parent`; 0 = not a split: this rank has joined `parent`
  int rank;
  int color, key;

  bool operator==(const GroupCall&) const = default;
};

// False if the file cannot be written.
bool Append(const char* file, const GroupCall& call);

// Returns all existing lines of one split (`parent`, `call`), in the file's order. Empty if the file cannot
// be read.
std::vector<GroupCall> ReadCalls(const char* file, uint64_t parent, uint32_t call);

// How long AwaitAll() waits, in milliseconds: `alone` if no other rank has joined the parent, `together` if
// another rank has joined.
struct Patience {
  int alone, together;
};

// Waits until all `ranks` ranks have appended their lines of one split. Returns the lines ordered by rank;
// empty if a line was missing after the waiting time.
std::vector<GroupCall> AwaitAll(const char* file, uint64_t parent, uint32_t call, int ranks,
                                Patience patience);

// The size of the new group that contains a rank, and the rank's number in the group. Ranks of a group are
// ordered by key, then by old rank (NCCL's documentation of ncclCommSplit).
struct GroupPlace {
  int ranks, rank;
};
// `all`: the result of AwaitAll(). `own`: the line of the rank whose group is returned.
GroupPlace PlaceIn(const std::vector<GroupCall>& all, const GroupCall& own);

}  // namespace vramscope::simulated
