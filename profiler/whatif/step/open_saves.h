// SPDX-License-Identifier: Apache-2.0
// Matches each release to the saved tensor that it releases, while a step is read. A release names only the
// memory. Several nodes may save the same block.
//
//   saved   A by node 1 ─ A by node 2            released A, while node 2 runs: A by node 2
//   saved   A by node 1 ─ B, A by node 2         released B, A, while no node runs: A by node 2, like B
#pragma once

#include <unordered_map>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class OpenSaves {
 public:
  void Add(Step& step, const Saved& saved);
  // Releases the reference to `block` whose node is running or ran last. If none of its nodes ran: releases
  // the reference of the node that released something just before. Without such a node, the first reference
  // added. Does nothing if no reference is open.
  void Release(Step& step, BlockIndex block, Position now);
  // Call once, after the last event. Corrects each release given to a node that ran only later: it belongs to
  // a node that saved the same block and never ran.
  static void Settle(Step& step);

 private:
  std::unordered_map<BlockIndex, std::vector<uint32_t>> open_;  // indices into Step::saved
  NodeIndex last_node_;                                         // the node that last released something
};

}  // namespace vramscope::whatif
