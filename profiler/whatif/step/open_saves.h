// SPDX-License-Identifier: Apache-2.0
// Finds the saved tensor that each recorded release belongs to, while a step is read. The record of a release
// contains only the block, but several autograd nodes may have saved the same block.
//
//   saved by node 1   saved by node 2   released                     result
//   A                 A                 A, while node 2 is running   the A of node 2
//   A                 B, A              B, A, while no node runs     the A of node 2, like B
#pragma once

#include <unordered_map>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class OpenSaves {
 public:
  // Adds `saved` to Step::saved. The saved tensor is a reference to its block until it is released.
  void Add(Step& step, const Saved& saved);
  // Releases one reference to `block`. Chooses the reference of the node that is running or ran last. If none
  // of the nodes has run, chooses the node whose reference was released just before; if there is no such
  // node, the oldest reference. Does nothing if the block has no reference.
  void Release(Step& step, BlockIndex block, Position now);
  // Call once, after the last event. Corrects each release that was matched to a node that ran only after the
  // release. Such a release belongs to another node, which saved the same block and never ran.
  static void Settle(Step& step);

 private:
  std::unordered_map<BlockIndex, std::vector<uint32_t>> open_;  // indices into Step::saved
  NodeIndex last_node_;                                         // the node that last released something
};

}  // namespace vramscope::whatif
