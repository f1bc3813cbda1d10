// SPDX-License-Identifier: Apache-2.0
// When, in backward, a gradient is converted to the type of what it is a gradient of.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "profiler/whatif/precision/autocast_rules.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

inline constexpr Position kStride = 0.05;     // between copies that are made one after the other
inline constexpr Position kBeforeNode = 0.4;  // what is converted for a node is there

// What comes out of an operator. Of a function of the program's own (torch.autograd.Function) no results are
// recorded: they are those of the last operator in it whose result outlives it.
[[nodiscard]] std::span<const Operand> ResultsOf(const Step& step, uint32_t op);

// By operator of forward: the nodes of autograd that were made in it.
[[nodiscard]] std::vector<std::vector<uint32_t>> NodesByOp(const Step& step);

class GradientMoments {
 public:
  // `rules`: by operator, filled while forward is played; it must outlive this.
  GradientMoments(const Step& step, const std::vector<CastRule>& rules);

  // A call of forward converts what it is given, other than parameters.
  void Converts(uint32_t call) { converts_[call] = true; }
  // Whether the operator, or one around it, was told to make float32.
  [[nodiscard]] bool IsForced(uint32_t op) const;

  // A gradient of a parameter, made at `made`, is converted behind all nodes of the operator that converted
  // the parameter, in the order of its arguments: that of what a linear layer is given, of its weight, of its
  // bias. `recorded`: when it was taken over, should there be no such operator.
  [[nodiscard]] Position OfLeaf(const Operand& gradient, Position made, Position recorded) const;
  // Where one of two gradients that are added at `add` for `node` is converted: by a node, or as soon as it
  // is ready. Those of a parameter that is used twice, where each of them is ready.
  [[nodiscard]] Position OfAdded(const Operand& gradient, uint32_t handed_on, Position add, uint32_t node);
  // Sums of what OfAdded said something about: a gradient that a node converts is there, and added, only when
  // all nodes of its call have run. Their blocks in `changed` come and go then, in the order they did.
  void PutOffSums(Step& changed) const;
  // What a node of autograd converts, behind all nodes of the call of forward that the block is a gradient
  // of: what was converted last, for the first argument, comes first.
  [[nodiscard]] Position BehindCall(uint32_t block) const;
  // The same, where the call converted what it was given; else kForever.
  [[nodiscard]] Position OfArgument(uint32_t block) const;
  // When the engine converts a gradient for a node that begins at `before`: it checks what is handed to it,
  // behind the operator that made it or a view of it, or behind `handed_on`, the last that only hands it on;
  // kNone: there is none.
  [[nodiscard]] Position ReadyBefore(const Operand& gradient, uint32_t handed_on, Position before) const;
  // The same, where a node converted the gradient before, and only views of it are made.
  [[nodiscard]] Position HandedOn(const Operand& gradient, uint32_t handed_on, Position before) const;
  // When the node that made the tensor, as a part of a block, hands it on; kBefore where no operator made it.
  [[nodiscard]] Position ViewedBefore(const Operand& gradient, Position before) const;
  // Whether the engine, which adds to this tensor at `add`, may not do so where it is: it is a parameter's
  // gradient, or a view of what was made, or converted, at `made`, whose storage that has too.
  [[nodiscard]] bool IsShared(const Operand& gradient, Position made, Position add) const;
  // Whether what went into the call of forward, whose node made the gradient, was converted, so that a node
  // of autograd converts the gradient.
  [[nodiscard]] bool ByANode(uint32_t block) const;
  // The engine checks what a node returns at once: behind the node's own operator, the last that ended before
  // `add`.
  [[nodiscard]] Position ProducedBefore(uint32_t block, Position add) const;
  // When the engine checks this one of the gradients that a node returns, whose own operator, or what the
  // engine did with the gradient, is `op`: in the order of the arguments of forward.
  [[nodiscard]] bool IsSum(uint32_t block) const;
  [[nodiscard]] Position Checked(uint32_t op, uint32_t block) const;
  // The call of forward that has a rule, whose node made the gradient; kNone when there is none.
  [[nodiscard]] uint32_t CallOf(uint32_t block) const;
  // Whether autograd differentiates what the call of forward did.
  [[nodiscard]] bool HasNodes(uint32_t call) const { return NodesEnd(call, kBefore) > kBefore; }
  // The last end of all nodes, made behind `made`, of the pass of backward that made the gradient.
  [[nodiscard]] Position NodesEndBehind(Position made, uint32_t gradient) const;

 private:
  // Whether the node that made the gradient makes gradients in the order of its operator's arguments.
  [[nodiscard]] bool MadeInTurn(uint32_t block) const;
  // Whether it is the gradient of what a call of attention adds to its scores.
  [[nodiscard]] bool IsOfMask(uint32_t block, uint32_t call) const;
  [[nodiscard]] Position CopiedWithin(uint32_t outermost, uint32_t block) const;
  [[nodiscard]] Position CheckedBehind(uint32_t op, uint32_t block) const;
  // The argument of a call that has so many bytes.
  [[nodiscard]] uint32_t ArgumentOfSize(uint32_t call, uint64_t bytes) const;
  // Which argument of the call it is a gradient of, by its size.
  [[nodiscard]] uint32_t ArgumentOf(uint32_t block, uint32_t call) const;
  // How many of the gradients that the nodes of a call hand out were made before this one.
  [[nodiscard]] uint32_t HandedOutBefore(uint32_t block, uint32_t call) const;
  // Of the arguments of a call whose gradients are converted, how many are before the one in this place.
  [[nodiscard]] uint32_t TurnOf(uint32_t call, uint32_t place) const;
  void NoteLateSum(Position add, uint32_t call);
  // The last end of the nodes that were made in a call of forward; not before `from`.
  [[nodiscard]] Position NodesEnd(uint32_t call, Position from) const;

  const Step& step_;
  const std::vector<CastRule>& rules_;
  std::vector<bool> converts_;                        // by operator
  std::vector<std::vector<uint32_t>> made_;           // by block: operands that are results, in their order
  std::vector<std::pair<Position, Position>> nodes_;  // made, end: of those that ran, in order

  struct LateSum {
    Window recorded;
    Position at = 0;
  };
  std::vector<LateSum> late_sums_;  // in order, as they were played
};

}  // namespace vramscope::whatif
