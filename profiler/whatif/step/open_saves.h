// SPDX-License-Identifier: Apache-2.0
// Matches releases to tensors that autograd saves, while a step is read: which of several references to a
// block a release means.
//
//   saved   A by node 1 ─ A by node 2            released A, while node 2 runs: the second one
//   saved   A by node 1 ─ B, A by node 2         released B, A, while none runs: the second one, as B was
//
// Why: a release names only the memory, and memory that several nodes save is released once per node.
#pragma once

#include <unordered_map>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class OpenSaves {
 public:
  // Adds it to Step::saved.
  void Add(Step& step, const Saved& saved);
  // Releases the reference whose node is running or ran last. If none of the nodes ran, an unneeded graph is
  // going away. Then it releases the reference of the node that released something just before, or else the
  // first one made. Does nothing if no reference is open.
  void Release(Step& step, BlockIndex block, Position now);
  // Call at the end: a release before its node ran was that of a node that never ran and that saved the same
  // block.
  static void Settle(Step& step);

 private:
  std::unordered_map<BlockIndex, std::vector<uint32_t>> open_;  // indices into Step::saved
  NodeIndex last_node_;                                         // the node that last released something
};

}  // namespace vramscope::whatif
