// SPDX-License-Identifier: Apache-2.0
// How long variables of a program hold what a forward pass computes, where autograd does not keep it.
//
// A recording of a Python program tells at the begin of each call of a module which blocks the variables of
// the functions around it hold: these stand still until the call returns; behind a function's last call,
// which was not given the block, until another is made; and where nothing gives the variable another value,
// until its function returns. A variable that is seen to hold something else in the next call, or outlives
// the last one (FindGivenUp...), is followed to where it is given that. Within what calls no modules, the
// source of the functions tells (function_facts.h). Where neither does, as in older recordings, some things
// are certain enough, in PyTorch written as usual:
//
//   block(x)                x is held by the call until block returns, as Python holds arguments
//   q, k = f(x), g(x)       what meets in a matrix product or in attention was computed beside each other, so
//   y = attend(q, k, v)     it has names, as what comes of it; they last until the function ends
//
//   a = f(x); b = g(x)      g was given x when f had returned, so x is no name that f(x) was given to: it
//   lasts b = g(y, x)             until the function ends; so does what g does not begin with
//
//   a = f(x); ...; c = g(); cat(c, a)
//                           a outlived a call that has nothing to do with it: so does a stay
//
//   w = table[i]; y = y @ w; w = table[j]; y = y @ w
//                           or until the name stands for what was made anew: by the same operator, behind
//                           the product, for the same place in the next one
//
// All else goes with its last use: x = f(x), and what stands within an expression.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// By operator: the innermost call of a module around it; kNone outside of all.
[[nodiscard]] std::vector<uint32_t> CallsOf(const Step& step);

// The outermost operator that the block was made in; kNone when it was there.
[[nodiscard]] uint32_t OutermostMaker(const Step& step, uint32_t block);
// The operator behind `op` that is in no other one; the number of operators where there is none.
[[nodiscard]] uint32_t NextOutermost(const Step& step, uint32_t op);

// Until when variables of functions hold the block itself, whatever the program converts it to, as their
// sources say (Step::named); kBefore: they do not.
[[nodiscard]] Position NamedUntil(const Step& step, uint32_t block);

// Until when variables of functions hold the block as it was before that moment, not what was made of it
// then; kForever: they are not told apart.
[[nodiscard]] Position NamedAsMadeBefore(const Step& step, uint32_t block, Position at);

// Whether it is known that no other variable holds the block itself.
[[nodiscard]] bool AreNamesKnown(const Step& step, uint32_t block);

// A function that is put into the step behind `from` has the block until then, or the copy that the program
// converted it to before. Whether others have it is known as before.
void HoldInFunction(Step& step, uint32_t block, Position from, Position until);

// Puts entries in the order of their blocks, after some were given others: one of each block, the longest.
void MergeNamed(std::vector<Named>& named);

class Holders {
 public:
  explicit Holders(const Step& step);
  // Until when what holds the operand's block is there at least; kBefore when nothing shows. `operand`: of
  // the step. O(depth of the modules).
  [[nodiscard]] Position Until(const Operand& operand) const {
    const Lasting lasting = LastsUntil(operand);
    return std::max(lasting.held, lasting.named);
  }
  // The same, apart: what shows, and what functions' own variables are told to hold (Step::named).
  struct Lasting {
    Position held = kBefore, named = kBefore;
  };
  [[nodiscard]] Lasting LastsUntil(const Operand& operand) const;
  // Until when variables that were seen to hold the block have it, whatever operators work on it.
  [[nodiscard]] Position SeenUntil(uint32_t block) const;

 private:
  // What Until() says, where variables were not recorded. `function`: the call until whose end it is taken to
  // be held by a variable, if it is.
  [[nodiscard]] Position Guess(const Operand& operand, uint32_t* function) const;
  // Whether a later call from the function was seen to begin before `until` when no variable held the block.
  [[nodiscard]] bool SeenGone(const Operand& operand, uint32_t function, Position until) const;
  [[nodiscard]] bool GivenElseBehind(const Operand& operand, uint32_t function, Position until) const;
  // Until when at least a variable holds the block that held it during the call. Behind a function's last
  // call that is not given the block and not one of a loop, what the call returns has another name, so the
  // variable is given nothing else before the next block is made.
  [[nodiscard]] Position BehindLast(uint32_t block, uint32_t call) const;
  // Whether a call is one of a loop's, which calls the same modules in the same order again.
  [[nodiscard]] bool IsRepeated(uint32_t call) const;
  // Whether the function that made the call makes no other one behind it.
  [[nodiscard]] bool IsLast(uint32_t call) const;
  [[nodiscard]] bool MeetsAnother(const Op& op) const;
  // Whether a call of the function that the operator is in returned the block before another call of it that
  // has nothing to do with the block: so it has a name, or a place in a list.
  [[nodiscard]] bool Outlives(const Operand& operand, uint32_t function) const;
  // When the name of an operand of a product is given to another block; kForever when it is not.
  [[nodiscard]] Position NamedAnew(const Operand& operand) const;
  // Whether the function that made a call with the block keeps it behind the call.
  [[nodiscard]] bool IsKept(uint32_t block, uint32_t call) const;
  [[nodiscard]] uint32_t MakerOf(uint32_t block) const { return OutermostMaker(step_, block); }
  // Whether the function made the block, and its source tells all of its variables that hold it.
  [[nodiscard]] bool AreNamesToldIn(uint32_t function, uint32_t block) const;
  // When the variable of Step::held goes, which keeps its value until its function returns.
  [[nodiscard]] Position ReturnsInTurn(size_t held) const;
  // The same of any variable of that function that has the block.
  [[nodiscard]] Position ReturnsWith(uint32_t block, uint32_t function) const;
  void FindGivenUp();
  void FindGivenUpLast();
  // Whether something that the call made goes directly behind that moment.
  [[nodiscard]] bool ResultGoesBehind(const ModuleCall& call, Position gone) const;
  [[nodiscard]] uint32_t FirstMadeBehind(Position at) const;
  // Whether the function made other calls between.
  [[nodiscard]] bool CallsBetween(uint32_t call, uint32_t later) const;
  // The same for a module and others of its list: "stages.0.blocks.1", "stages.2.blocks.0".
  [[nodiscard]] std::string PlaceInLoops(uint32_t call) const;
  // Whether an operator in the call made the block.
  [[nodiscard]] bool IsMadeIn(uint32_t block, uint32_t call) const;
  // Whether in a later call a variable of another name holds what `call` made.
  [[nodiscard]] bool ResultIsHeld(uint32_t call, uint32_t later, uint32_t but_by) const;
  // x, w = f(x): whether the call made something else that was used behind it, and that no variable holds in
  // the later call: x may have stood for that.
  [[nodiscard]] bool ReturnsAnother(uint32_t call, uint32_t later) const;
  // When a variable that held a block during a call got the one that it holds in a later call.
  [[nodiscard]] Position Assigned(uint32_t block, uint32_t call) const;

  const Step& step_;
  std::vector<uint32_t> call_;               // by operator of forward: the innermost module call around it
  std::vector<std::vector<uint32_t>> uses_;  // by block: outermost operators that make something else of it
  std::vector<std::vector<uint32_t>> held_;  // by block: calls during which a variable was seen to hold it
  // By block and function's call: when that returns, where it holds the block to its end.
  std::map<std::pair<uint32_t, uint32_t>, Position> returning_;
  std::vector<Position> lasting_;   // by block: when the last one of these returns
  std::vector<uint32_t> returns_;   // by block: that function's call
  std::vector<Position> named_;     // by block: as functions' sources say (Step::named)
  std::vector<bool> told_;          // by block: it is all that holds it in the call that made it
  std::vector<Position> given_up_;  // by block: when the last of these variables was seen to get another
  std::vector<bool> makes_;         // by outermost operator: whether it makes a block
};

}  // namespace vramscope::whatif
