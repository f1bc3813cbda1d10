// SPDX-License-Identifier: Apache-2.0
// Estimates how long Python variables hold results of forward that autograd does not save.
//
// In usual PyTorch code, the following code patterns show that a variable holds a tensor:
//
//   block(x)                Python holds the arguments of a call: x lives until block returns.
//   q, k = f(x), g(x)       q and k are operands of one product or attention, both computed in this step.
//   y = attend(q, k, v)     So both are variables, which live until the function ends.
//
//   a = f(x); b = g(x)      g receives x after f has returned. So the result of f was not assigned to x,
//                           and x lives until the function ends.
//   last = g(y, x)          The same holds if g uses another tensor of this step before it uses x.
//
//   a = f(x); ...; c = g(); cat(c, a)
//                           a is used after a call that does not use a. So a is a variable.
//
//   w = table[i]; y = y @ w; w = table[j]; y = y @ w
//                           After the first product, the same operator creates a new w for the same argument
//                           of the next product. So the first w lives until the second w is created.
//
// All other results are freed after their last use.
#pragma once

#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Returns for each operator the innermost module call around it, or kNone if the operator is outside all
// calls.
[[nodiscard]] std::vector<CallIndex> CallsOf(const Step& step);

// Returns the outermost operator that created the block, or kNone if the block existed before the step.
[[nodiscard]] OpIndex OutermostMaker(const Step& step, BlockIndex block);

class Holders {
 public:
  // `step` must outlive this object. O(operands).
  explicit Holders(const Step& step);
  // Returns the position until which a variable holds the operand's block, or kBefore if no variable is known
  // to hold it. `operand` must be an input of an operator. O(depth of the modules), plus the search for later
  // uses in the function.
  [[nodiscard]] Position Until(const Operand& operand) const;

 private:
  [[nodiscard]] bool MeetsAnother(const Op& op) const;
  // True if a call returned the block, and the operator's function then made another call that does not use
  // the block. So the block is in a variable or list.
  [[nodiscard]] bool Outlives(const Operand& operand, CallIndex function) const;
  // Returns when the variable of a product's operand is reassigned, or kForever if never.
  [[nodiscard]] Position NamedAnew(const Operand& operand) const;
  // True if the function that passed the block to a call keeps it after the call.
  [[nodiscard]] bool IsKept(BlockIndex block, CallIndex call) const;

  const Step& step_;
  std::vector<CallIndex> call_;             // for each operator: the innermost module call around it
  std::vector<std::vector<OpIndex>> uses_;  // for each block: outermost operators that use it
};

}  // namespace vramscope::whatif
