// SPDX-License-Identifier: Apache-2.0
// The room that a call of attention leaves in a step when what it made is taken away, and what is put there.
//
// Why in its place and not beside it: what was recorded there leaves time enough for what another kernel
// makes, so nothing else moves.
#pragma once

#include <string_view>
#include <vector>

#include "profiler/whatif/attention/attention.h"
#include "profiler/whatif/training/stage.h"

namespace vramscope::whatif {

class AttentionRoom {
 public:
  // Takes away what the call made, kept and did, out of `changed`, a copy of `step`.
  AttentionRoom(const Step& step, const AttentionCall& call, Step& changed);

  // What --precision put in beside the result goes: a kernel other than flash attention is to be in its
  // place.
  void TakeBackCopies();
  // A kernel hands out [batch, rows, heads, width], so that what the program wants without gaps is so
  // already, unless it was recorded with one that does as well.
  void JoinCopies();
  // Products hand out [batch, heads, rows, width], of keys with rows the last: what the program has is a copy
  // of it, from where it asks for another order.
  void SplitCopies();

  [[nodiscard]] bool backward() const { return backward_; }
  [[nodiscard]] const std::vector<uint32_t>& gradients() const { return gradients_; }
  [[nodiscard]] uint32_t output() const { return output_; }
  [[nodiscard]] Stage Forward();
  // The node of the call, and what the engine runs for it.
  [[nodiscard]] Stage Backward(std::string_view node);
  // The operator that the program calls; `rows`: of what is kept of each row beside the output, 0 = nothing.
  void Name(std::string_view op, uint32_t sums = model::kNone, uint64_t rows = 0);

  // Kept by the call's node, until it is done or lets go earlier.
  void Keep(uint32_t block, Position at, double share = 1);
  void KeepOperands(Position at);
  void Release(uint32_t block, Stage& stage);
  // The gradient that the node was given, which it has a copy of.
  void ReleaseGiven(Stage& stage);

 private:
  void Blank(Op& op);
  void LetGo(uint32_t kept);
  [[nodiscard]] bool IsOwn(uint32_t node) const;
  [[nodiscard]] uint32_t KeptOf(uint32_t block) const;
  [[nodiscard]] uint32_t CopyBehind(uint32_t block, Position behind) const;
  [[nodiscard]] uint32_t AskerBehind(uint32_t block, Position behind, bool rows_last) const;
  // Whether the program copies it to see it in other sizes, which it need not of what a product hands out.
  [[nodiscard]] bool IsViewOfProduct(uint32_t block, Position behind, bool rows_last) const;
  void Join(uint32_t& block, Position behind);
  void Split(uint32_t& block, Position behind, bool rows_last);
  void Revive(uint32_t op, std::string_view name, Window time, std::vector<Operand> outputs);
  [[nodiscard]] Operand Result(uint32_t block, const Operand& like) const;
  [[nodiscard]] uint32_t ShapeOf(const std::vector<int64_t>& dims);
  [[nodiscard]] uint16_t Stream() const { return step_.blocks[call_.output].stream; }

  const Step& step_;
  const AttentionCall& call_;
  Step& changed_;
  const bool backward_;
  uint32_t output_;
  std::vector<uint32_t> gradients_;
  std::vector<uint32_t> backward_ops_;
  std::vector<uint32_t> given_;  // blocks that went while the call's backward worked
};

}  // namespace vramscope::whatif
