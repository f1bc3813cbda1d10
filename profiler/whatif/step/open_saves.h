// SPDX-License-Identifier: Apache-2.0
// Tensors that autograd keeps, while a step is read: which of several references to a block is let go of.
//
//   saved   A by node 1 ─ A by node 2            released A, while node 2 runs: the second one
//   saved   A by node 1 ─ B, A by node 2         released B, A, while none runs: the second one, as B was
//
// Why: a release names the memory alone, and what several nodes keep is let go of once for each.
#pragma once

#include <unordered_map>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class OpenSaves {
 public:
  // Puts it into Step::saved.
  void Add(Step& step, const Saved& saved);
  // Of the references to the block, the one whose node runs or ran last. Where none of them ran, a graph that
  // was not needed goes: that of the node which let go of something just before, else of the first one made.
  // Nothing when none is open.
  void Release(Step& step, uint32_t block, Position now);
  // When all is read: what went before its node ran was that of a node which never did, of the same block.
  static void Settle(Step& step);

 private:
  std::unordered_map<uint32_t, std::vector<uint32_t>> open_;  // by block: into Step::saved
  uint32_t last_node_ = model::kNone;                         // that let go of something
};

}  // namespace vramscope::whatif
