// SPDX-License-Identifier: Apache-2.0
// How long variables of a program hold what a forward pass computes, where autograd does not keep it.
//
// A recording shows which calls of modules were given a block and which operators work on it, not which
// variables have it. Some things are certain enough in PyTorch written as usual:
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
// All else goes with its last use: x = f(x), and what stands within an expression.
#pragma once

#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// By operator: the innermost call of a module around it; kNone outside of all.
[[nodiscard]] std::vector<uint32_t> CallsOf(const Step& step);

// The outermost operator that the block was made in; kNone when it was there.
[[nodiscard]] uint32_t OutermostMaker(const Step& step, uint32_t block);

class Holders {
 public:
  // O(operands). The step must outlive it.
  explicit Holders(const Step& step);
  // Until when what holds the operand's block is there at least; kBefore when nothing shows. `operand`: an
  // input of one of the step's operators. O(depth of the modules), but for what a function keeps.
  [[nodiscard]] Position Until(const Operand& operand) const;

 private:
  [[nodiscard]] bool MeetsAnother(const Op& op) const;
  // Whether a call of the function that the operator is in returned the block before another call of it that
  // has nothing to do with the block: so it has a name, or a place in a list.
  [[nodiscard]] bool Outlives(const Operand& operand, uint32_t function) const;
  // When the name of an operand of a product is given to another block; kForever when it is not.
  [[nodiscard]] Position NamedAnew(const Operand& operand) const;
  // Whether the function that made a call with the block keeps it after the call.
  [[nodiscard]] bool IsKept(uint32_t block, uint32_t call) const;

  const Step& step_;
  std::vector<uint32_t> call_;               // by operator: the innermost module call around it
  std::vector<std::vector<uint32_t>> uses_;  // by block: outermost operators that make something else of it
};

}  // namespace vramscope::whatif
