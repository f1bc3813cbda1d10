// SPDX-License-Identifier: Apache-2.0
// Finds the autograd nodes that a program keeps alive by holding tensors in variables.
//
// A variable that holds a tensor also holds the tensor's autograd graph. Backward releases the tensors that
// its own nodes saved. Backward does not release the tensors that nodes of a recomputation saved.
//
//   segment   a ── b ── state ── c ── out       a variable holds `state`: alive are `state`, and the tensors
//                                               that the nodes of a, b and state saved
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class GraphsBehind {
 public:
  // O(operands). `step` must outlive this object.
  explicit GraphsBehind(const Step& step);

  // `held` contains blocks whose tensors a variable holds, each with the position until which the variable
  // holds it. Returns, for each node that is kept alive, the latest of these positions among the blocks that
  // were computed from the node's result. Only nodes created at or after `from` are returned. Tensors without
  // a graph, or taken out of their graph by detach(), keep no node alive. O(operands after `from`).
  [[nodiscard]] std::unordered_map<NodeIndex, Position> Until(
      std::span<const std::pair<BlockIndex, Position>> held, Position from) const;

 private:
  const Step& step_;
  std::vector<NodeIndex> node_;    // by operator: the node that the operator created
  std::vector<OpIndex> last_;      // by block: the last forward operator that has it as a result
  std::vector<OpIndex> detached_;  // by block: the last operator that takes it out of its graph
};

}  // namespace vramscope::whatif
