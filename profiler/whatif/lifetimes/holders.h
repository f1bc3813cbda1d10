// SPDX-License-Identifier: Apache-2.0
// Estimates how long variables hold results of forward that autograd does not save.
//
// In usual PyTorch code, these cases are certain:
//
//   block(x)                x is held by the call until block returns, as Python holds arguments
//   q, k = f(x), g(x)       two operands of a product or of attention, both computed in this step, are
//   y = attend(q, k, v)     variables: they last until the function ends
//
//   a = f(x); b = g(x)      g receives x after f has returned, so f's result was not assigned to x: x lasts
//   last = g(y, x)          until the function ends. It also does if g first uses another tensor of this step
//
//   a = f(x); ...; c = g(); cat(c, a)
//                           a outlived a call that does not use it, so it has a variable too
//
//   w = table[i]; y = y @ w; w = table[j]; y = y @ w
//                           w lasts until the same operator makes the next w, after the product. The next
//                           product must use that w at the same place
//
// Everything else is freed after its last use.
#pragma once

#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// By operator: the innermost module call around it; kNone outside all calls.
[[nodiscard]] std::vector<CallIndex> CallsOf(const Step& step);

// The outermost operator that created the block; kNone if the block existed before.
[[nodiscard]] OpIndex OutermostMaker(const Step& step, BlockIndex block);

class Holders {
 public:
  // O(operands). The step must outlive this object.
  explicit Holders(const Step& step);
  // The time until which the operand's block is certainly held; kBefore: not held. `operand`: an input of the
  // step's operators. O(depth of the modules), plus the search for later uses in the function.
  [[nodiscard]] Position Until(const Operand& operand) const;

 private:
  [[nodiscard]] bool MeetsAnother(const Op& op) const;
  // True if a call returned the block, and the operator's function then made another call without it. So the
  // block is in a variable or list.
  [[nodiscard]] bool Outlives(const Operand& operand, CallIndex function) const;
  // When the variable of a product's operand is reassigned; kForever if never.
  [[nodiscard]] Position NamedAnew(const Operand& operand) const;
  // True if the function that passed the block to a call keeps it after the call.
  [[nodiscard]] bool IsKept(BlockIndex block, CallIndex call) const;

  const Step& step_;
  std::vector<CallIndex> call_;             // by operator: the innermost module call around it
  std::vector<std::vector<OpIndex>> uses_;  // by block: outermost operators that compute from it
};

}  // namespace vramscope::whatif
