// SPDX-License-Identifier: Apache-2.0
// What tensors' graphs of autograd go back to. Whoever holds a tensor holds its graph: backward lets go of
// what its own graph's nodes keep, but not of what one keeps that was only computed again beside it.
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
  // O(operands). The step must outlive it.
  explicit GraphsBehind(const Step& step);

  // `held`: blocks, and until when somebody holds each one's tensor. By node that was made in forward from
  // `from` on and whose result went into one of them, the latest of these. No node is where the program took
  // the block's tensor out of its graph (detach()), or computed it without one. O(operands from there on to
  // the last operator that has one of the blocks as a result).
  [[nodiscard]] std::unordered_map<uint32_t, Position> Until(
      std::span<const std::pair<uint32_t, Position>> held, Position from) const;

 private:
  const Step& step_;
  std::vector<uint32_t> node_;      // by operator: the node that it computes for
  std::vector<uint32_t> last_;      // by block: the last operator of forward that has it as a result
  std::vector<uint32_t> detached_;  // by block: the last one that takes it out of its graph
};

}  // namespace vramscope::whatif
