// SPDX-License-Identifier: Apache-2.0
// The autograd graphs that held tensors keep alive. A variable that holds a tensor also holds its graph.
// Backward releases what its own nodes saved, but not what recomputed nodes saved.
//
//   segment   a ── b ── state ── c ── out       held: state, and what the nodes of a, b and state keep
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class GraphsBehind {
 public:
  // O(operands). The step must outlive this object.
  explicit GraphsBehind(const Step& step);

  // `held`: blocks, and until when a variable holds their tensors. Returns, by node, the latest such time
  // among the blocks that its result went into. Only for nodes created from `from` on. Not for tensors taken
  // out of their graph (detach()) or computed without one. O(operands after `from`).
  [[nodiscard]] std::unordered_map<NodeIndex, Position> Until(
      std::span<const std::pair<BlockIndex, Position>> held, Position from) const;

 private:
  const Step& step_;
  std::vector<NodeIndex> node_;    // by operator: the node made for it
  std::vector<OpIndex> last_;      // by block: the last forward operator that has it as a result
  std::vector<OpIndex> detached_;  // by block: the last operator that takes it out of its graph
};

}  // namespace vramscope::whatif
