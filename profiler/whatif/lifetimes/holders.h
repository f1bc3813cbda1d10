// SPDX-License-Identifier: Apache-2.0
// How long a program's variables hold the results of a forward pass, where autograd does not save them.
//
// A recording shows which module calls received a block and which operators used it, but not which variables
// hold it. In PyTorch code written in the usual way, some cases are certain enough:
//
//   block(x)                x is held by the call until block returns, as Python holds arguments
//   q, k = f(x), g(x)       what meets in a matrix product or in attention was computed side by side, so it
//   y = attend(q, k, v)     has names, as its result does; they last until the function ends
//
//   a = f(x); b = g(x)      g was given x when f had returned, so x is not the name that f(x) was given: it
//   last = g(y, x)          lasts until the function ends; so does what g does not begin with
//
//   a = f(x); ...; c = g(); cat(c, a)
//                           a outlived a call that has nothing to do with it, so it has a name too
//
//   w = table[i]; y = y @ w; w = table[j]; y = y @ w
//                           or until the name is given what was made anew: by the same operator, after the
//                           product, for the same place in the next one
//
// Everything else is freed after its last use: x = f(x), and values inside an expression.
#pragma once

#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// By operator: the innermost module call around it; kNone outside all calls.
[[nodiscard]] std::vector<CallIndex> CallsOf(const Step& step);

// The outermost operator in which the block was created; kNone if the block existed before.
[[nodiscard]] OpIndex OutermostMaker(const Step& step, BlockIndex block);

class Holders {
 public:
  // O(operands). The step must outlive this object.
  explicit Holders(const Step& step);
  // Returns the earliest time until which the operand's block is certainly held; kBefore if nothing shows it.
  // `operand`: an input of one of the step's operators. O(depth of the modules), apart from what a function
  // keeps.
  [[nodiscard]] Position Until(const Operand& operand) const;

 private:
  [[nodiscard]] bool MeetsAnother(const Op& op) const;
  // True if a call in the operator's function returned the block before another, unrelated call of it. So the
  // block has a name, or a place in a list.
  [[nodiscard]] bool Outlives(const Operand& operand, CallIndex function) const;
  // When the name of a product's operand is assigned another block; kForever if it never is.
  [[nodiscard]] Position NamedAnew(const Operand& operand) const;
  // True if the function that passed the block to a call keeps it after the call.
  [[nodiscard]] bool IsKept(BlockIndex block, CallIndex call) const;

  const Step& step_;
  std::vector<CallIndex> call_;             // by operator: the innermost module call around it
  std::vector<std::vector<OpIndex>> uses_;  // by block: outermost operators that compute from it
};

}  // namespace vramscope::whatif
