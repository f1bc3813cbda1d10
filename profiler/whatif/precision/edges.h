// SPDX-License-Identifier: Apache-2.0
// Gradients on their way from the node of an addition to those of what was added up.
//
//   hidden = (residual + attention) + mlp      residual in float32, the other two in 16 bits
//
//   AddBackward of + mlp        ── its edge to mlp: converts for itself
//     └ AddBackward of + attention  ── its edge to attention: too, from the float32 that this node was given
//
// All of them hand on one block, so that the version of another edge must not be taken for one's own.
//
//   hidden = residual + norm(attention)        what the norm computes in float32 it converts back to 16 bits:
//     AddBackward ── float32 ─ 16 bits ─ the conversion's node ─ float32 ── the norm's node
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "profiler/whatif/precision/copies.h"
#include "profiler/whatif/precision/moments.h"
#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class AdditionEdges {
 public:
  // All must outlive it.
  AdditionEdges(const Step& step, const Consumers& consumers, const CopiesGradients& copies,
                Versions& versions);

  // An operator of backward ends: the versions that its node was given.
  void NoteGiven(uint32_t op);
  // Where the gradient's current version was made for another edge than that to `node`, whose addition was
  // given another type than `wanted`: converts it anew, and returns true.
  [[nodiscard]] bool Convert(const Operand& gradient, uint32_t node, uint8_t wanted);
  // The same, where the program converted to `low` what `node` made in `wanted`, and the sum was of that: the
  // gradient takes this way too.
  [[nodiscard]] bool ThereAndBack(const Operand& gradient, uint32_t node, uint8_t low, uint8_t wanted);
  // x = x.float() + f(y), and the engine adds to the gradient for x's `node`: where the addition read a wider
  // copy of x, which is `low`, the copy's node converts it, whatever other edges made of it.
  void ConvertWide(const Op& add, uint32_t node, uint8_t low);
  // The current version of the block was made for `node`.
  void MadeFor(uint32_t block, uint32_t node);

 private:
  [[nodiscard]] uint32_t EdgeTo(uint32_t node, uint32_t block) const;

  const Step& step_;
  const Consumers& consumers_;
  const CopiesGradients& copies_;
  Versions& versions_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> given_;  // by operator and block
  std::set<uint32_t> wide_;                                  // nodes for which ConvertWide did so
  std::unordered_map<uint32_t, uint32_t> edge_of_;  // by version: the addition's operator of backward
};

}  // namespace vramscope::whatif
