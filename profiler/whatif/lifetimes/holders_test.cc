// SPDX-License-Identifier: Apache-2.0
// How long variables hold what a forward pass computes: a step put together by hand.
#include "profiler/whatif/lifetimes/holders.h"

#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"

namespace vramscope::whatif {
namespace {

//   position  0    10                20            40      50         100
//   module    layer ─────────────────────────────────────────────────┤
//                  norm ── q, k ──── attention ────┤ child ┤
class HoldersTest : public testing::Test {
 protected:
  HoldersTest() {
    step_.run = &run_;
    step_.length = 100;
    step_.modules = {{0, model::kNone, 0, 90}, {0, 0, 40, 50}};
    for (const Position begin : {5.0, 12.0, 14.0}) {
      StepBlock block;
      block.begin = begin;
      step_.blocks.push_back(block);
    }
  }

  // An operand of an operator that works on these blocks.
  Operand Add(const char* name, Position at, std::vector<uint32_t> blocks) {
    Op op;
    op.name = script_.trace().Intern(name);
    op.begin = at;
    op.end = at + 1;
    op.first_input = static_cast<uint32_t>(step_.operands.size());
    op.input_count = static_cast<uint32_t>(blocks.size());
    for (const uint32_t block : blocks) {
      Operand operand;
      operand.op = static_cast<uint32_t>(step_.ops.size());
      operand.block = block;
      step_.operands.push_back(operand);
    }
    step_.ops.push_back(op);
    run_ = script_.Load();
    return step_.operands.back();
  }

  // Of blocks 0 and 1, the next block that is made: what a variable may hold from then on.
  void AddSum() {
    (void)Add("aten::add", 60, {0, 1});
    StepBlock sum;
    sum.begin = 60.5;
    sum.op = static_cast<uint32_t>(step_.ops.size() - 1);
    step_.blocks.push_back(sum);
  }

  // Block 1 is made in the first of two calls, which is given block 0; block 2 is made of it between them.
  // Returns what was given.
  Operand GiveThenAdd() {
    step_.modules.push_back({0, 0, 60, 70});
    const auto make = [&](uint32_t block, Position at) {
      step_.blocks[block].begin = at + 0.5;
      step_.blocks[block].op = static_cast<uint32_t>(step_.ops.size());
    };
    make(1, 45);
    const Operand given = Add("aten::linear", 45, {0});
    make(2, 55);
    (void)Add("aten::add", 55, {1});
    return given;
  }

  static constexpr Position kReturned = 89.9;        // of the layer: its variables have gone
  static constexpr uint32_t kX = 7, kY = 8, kW = 9;  // names of variables
  model::testing::Script script_;
  model::Run run_;
  whatif::Step step_;
};

TEST_F(HoldersTest, AnArgumentIsHeldUntilTheCallReturns) {
  const Operand inside = Add("aten::linear", 45, {0});
  EXPECT_EQ(Holders(step_).Until(inside), 50);
}

TEST_F(HoldersTest, WhatMeetsInAProductIsHeldUntilItsFunctionEnds) {
  const Operand product = Add("aten::bmm", 20, {1, 2});
  EXPECT_EQ(Holders(step_).Until(product), kReturned);
  Operand result = product;
  result.flags = trace::kTensorIsOutput;
  EXPECT_EQ(Holders(step_).Until(result), kReturned) << "so is what comes of it";
}

// y = attend(...); y = project(y); return drop(y)
TEST_F(HoldersTest, WhatComesOfAProductHoldsNoLongerThanItsNameWhichIsGivenSomethingElse) {
  const auto until = [&](bool to_end, bool told, bool result = true) {
    step_.ops.clear(), step_.operands.clear();
    step_.held = {{0, 1, kX, told}, {2, 1, kY, to_end}};
    Operand product = Add("aten::bmm", 20, {0, 1, 2});
    product.flags = result ? uint8_t{trace::kTensorIsOutput} : uint8_t{0};
    (void)Add("aten::linear", 45, {2});
    return Holders(step_).Until(product);
  };
  EXPECT_EQ(until(false, true), 50) << "nothing tells when, behind the call that it is given to";
  EXPECT_NEAR(until(true, true), kReturned, 1e-3);
  EXPECT_EQ(until(false, false), kReturned) << "an older record";
  EXPECT_EQ(until(false, true, false), kReturned) << "what goes into it may be used once more";
}

TEST_F(HoldersTest, ANameThatTheNextProductsOperandGetsHoldsNoLonger) {
  for (const uint32_t made : {1, 2}) {
    const Position at = made == 1 ? 14 : 30;
    (void)Add("aten::index", at, {0});
    step_.blocks[made].op = static_cast<uint32_t>(step_.ops.size()) - 1;
    step_.blocks[made].begin = at + 0.5;
    (void)Add("aten::bmm", at + 6, {0, made});
  }
  const Operand first = step_.operands[2], second = step_.operands.back();
  EXPECT_EQ(Holders(step_).Until(first), 31) << "the second index has ended";
  EXPECT_EQ(Holders(step_).Until(second), kReturned);
  // k and v of attention are both there when the first product begins.
  step_.ops[1].end = 32;
  EXPECT_EQ(Holders(step_).Until(first), kReturned);
}

TEST_F(HoldersTest, WhatSeveralCallsAreGivenIsKeptUntilTheFunctionEnds) {
  step_.modules.push_back({0, 0, 60, 70});
  (void)Add("aten::linear", 45, {0});
  const Operand again = Add("aten::linear", 65, {0});
  EXPECT_EQ(Holders(step_).Until(again), kReturned);
  EXPECT_EQ(Holders(step_).Until(step_.operands[0]), 50) << "nothing was before it";
}

TEST_F(HoldersTest, WhatACallChangesInPlaceIsHandedOn) {
  step_.modules.push_back({0, 0, 60, 70});
  (void)Add("aten::relu_", 45, {0});
  step_.ops.back().first_output = step_.ops.back().first_input;
  step_.ops.back().output_count = 1;
  const Operand next = Add("aten::linear", 65, {0});
  EXPECT_EQ(Holders(step_).Until(next), 70);
}

TEST_F(HoldersTest, WhatACallIsGivenBesideAnotherTensorIsKeptUntilTheFunctionEnds) {
  (void)Add("aten::linear", 42, {1});
  const Operand beside = Add("aten::linear", 45, {0});
  EXPECT_EQ(Holders(step_).Until(beside), kReturned);
}

// x = f(y, x)
TEST_F(HoldersTest, ANameThatTheLastCallsResultGetsHoldsNoLongerThanThat) {
  (void)Add("aten::linear", 42, {0});
  const Operand later = Add("aten::mul", 45, {1});
  step_.held = {{0, 1, kY, true}, {1, 1, kX, false}};
  EXPECT_EQ(Holders(step_).Until(later), 50);
  step_.held.push_back({1, 1, kW, true});
  EXPECT_NEAR(Holders(step_).Until(later), kReturned, 1e-3) << "it has another one";
  step_.held.pop_back();
  step_.modules.push_back({0, 0, 60, 70});
  step_.held.push_back({1, 2, kX, true});
  EXPECT_NEAR(Holders(step_).Until(later), kReturned, 1e-3) << "a later call shows it";
}

TEST_F(HoldersTest, WhatACallReturnedBeforeAnotherThatDoesNotUseItIsKeptUntilTheFunctionEnds) {
  (void)Add("aten::silu", 45, {1});
  step_.blocks[0].op = 0, step_.blocks[0].begin = 45.5;
  const Operand soon = Add("aten::cat", 55, {0});
  EXPECT_EQ(Holders(step_).Until(soon), kBefore);
  step_.modules.push_back({0, 0, 60, 70}), (void)Add("aten::linear", 65, {2});
  const Operand later = Add("aten::cat", 75, {0});
  EXPECT_EQ(Holders(step_).Until(later), kReturned);
  step_.held = {{0, 2, kX, false}, {1, 2, kY, true}}, step_.named = {{0, 76.5}};
  EXPECT_EQ(Holders(step_).Until(later), 76.5) << "its name is given something else, as the source says";
  step_.held = {{0, 2, kX, false}, {0, 2, kW, false}, {1, 2, kY, true}};
  EXPECT_EQ(Holders(step_).Until(later), kReturned) << "two have it: the source may tell of one's function";
}

TEST_F(HoldersTest, WhatAVariableWasSeenToHoldIsThereUntilTheCallReturns) {
  const Operand sum = Add("aten::mul", 20, {1, 2});
  EXPECT_EQ(Holders(step_).Until(sum), kBefore);
  step_.modules.push_back({0, 0, 60, 70});
  step_.held = {{2, 1}, {2, 2}};
  EXPECT_EQ(Holders(step_).Until(sum), 70);
}

TEST_F(HoldersTest, WhatALaterCallWasSeenWithoutHasNoName) {
  step_.modules.push_back({0, 0, 60, 70});
  const Operand product = Add("aten::bmm", 20, {1, 2});
  step_.held = {{0, 1}, {2, 1}};
  EXPECT_EQ(Holders(step_).Until(product), 50) << "held by the first of the two calls behind it";
  step_.held = {{0, 1}, {2, 1}, {2, 2}};
  EXPECT_EQ(Holders(step_).Until(product), kReturned) << "by both: its function is taken to keep it";
}

//   module    layer ── first ── y = ... ── x = x + y ── second ──┤
TEST_F(HoldersTest, WhatIsGivenToACallIsHeldUntilItsNameIsGivenToWhatIsMadeOfTheResult) {
  const Operand given = GiveThenAdd();
  step_.held = {{0, 1, kX}, {2, 2, kX}};
  EXPECT_EQ(Holders(step_).Until(given), 50) << "x = f(x); x = x + r is written so too";
  step_.held = {{0, 1, kX}, {2, 2, kX}, {1, 2, kY}};
  EXPECT_EQ(Holders(step_).Until(given), 56);
}

//   module    layer ── x = relu() ── x = first(x); out.append(x) ── x = x + y ── second ──┤
TEST_F(HoldersTest, WhatTheSourceSaysOfAVariableCountsMoreThanWhatTheNextCallShows) {
  step_.blocks[0].op = 0;
  (void)Add("aten::relu", 4, {2});
  const Operand given = GiveThenAdd();
  step_.held = {{0, 1, kX}, {2, 2, kX}, {1, 2, kY}};
  step_.named = {{0, 50, 50, true, true}};
  EXPECT_EQ(Holders(step_).Until(given), 50);
  step_.named = {{0, 50, 50, false, true}};
  EXPECT_EQ(Holders(step_).Until(given), 56) << "not all of its variables";
}

//   module    layer ── blocks.0 ── blocks.1 ── x = x + y ── second ──┤
TEST_F(HoldersTest, ANameThatTakesWhatACallReturnsInOneTurnOfALoopDoesInTheLast) {
  const Operand given = GiveThenAdd();
  const auto text = [&](const char* path) { return script_.trace().Intern(path); };
  step_.modules[1].name = text("blocks.1"), step_.modules[2].name = text("second");
  step_.modules.insert(step_.modules.begin() + 1, {text("blocks.0"), 0, 30, 38});
  step_.held = {{3, 1, kX}, {0, 2, kX}, {2, 3, kX}, {1, 3, kY}};
  step_.blocks.emplace_back();
  (void)Add("aten::linear", 33, {3});
  step_.blocks[0].begin = 33.5, step_.blocks[0].op = static_cast<uint32_t>(step_.ops.size() - 1);
  EXPECT_EQ(Holders(step_).Until(given), 50) << "y = block(x); x = y[0]";
  step_.modules[1].name = text("other");
  EXPECT_EQ(Holders(step_).Until(given), 56);
}

//   module    layer ── f: x = ..., first(x) ── second ── g: x = ..., third(x) ──┤
TEST_F(HoldersTest, ANameThatACallBetweenDoesNotShowIsThatOfAnotherFunction) {
  const Operand given = GiveThenAdd();
  step_.held = {{0, 1, kX}, {2, 2, kX}, {1, 2, kY}};
  EXPECT_EQ(Holders(step_).Until(given), 56);
  step_.modules.insert(step_.modules.begin() + 2, {0, 0, 51, 53});
  step_.held = {{0, 1, kX}, {2, 3, kX}, {1, 3, kY}};
  EXPECT_EQ(Holders(step_).Until(given), 50);
}

//   module    layer ── x, w = first(x) ── x = x + y ── second ──┤
TEST_F(HoldersTest, WhatIsGivenToACallMayStandForAnotherOfItsResultsBehindIt) {
  step_.modules.push_back({0, 0, 60, 70});
  const auto make = [&](uint32_t block, Position at) {
    step_.blocks[block].begin = at + 0.5;
    step_.blocks[block].op = static_cast<uint32_t>(step_.ops.size());
  };
  step_.blocks.emplace_back();
  make(1, 45);
  const Operand given = Add("aten::softmax", 45, {0});
  make(2, 47);
  (void)Add("aten::linear", 47, {1});
  make(3, 55);
  (void)Add("aten::add", 55, {2});
  step_.held = {{0, 1, kX}, {3, 2, kX}, {1, 2, kW}};
  EXPECT_EQ(Holders(step_).Until(given), 50) << "the sum was made of a result without another name";
  step_.held.push_back({2, 2, kW});
  EXPECT_EQ(Holders(step_).Until(given), 56);
}

//   module    layer ── call ── sum ──┤ blocks 1 and 2 go
TEST_F(HoldersTest, WhatTheLastCallIsGivenIsHeldBehindItWhereItsResultGoesBehindALaterVariable) {
  StepBlock result, sum;
  result.begin = 45.5;
  sum.begin = 55.5;
  sum.op = 1;
  step_.blocks.push_back(result);
  step_.blocks.push_back(sum);
  const Operand given = Add("aten::linear", 45, {0});
  (void)Add("aten::add", 55, {3});
  step_.held = {{0, 1, kX}, {2, 1, kW}};
  step_.blocks[2].end = 58;
  step_.blocks[3].end = 57;
  EXPECT_EQ(Holders(step_).Until(given), 50) << "what the call returned may have got the name";
  step_.blocks[3].end = 59;
  EXPECT_EQ(Holders(step_).Until(given), 56);
  step_.named = {{0, 53, 53, false, false}};
  EXPECT_EQ(Holders(step_).Until(given), 53) << "the function's source tells when it is given another value";
  step_.named.clear();
  step_.modules.push_back({0, 0, 70, 80});
  EXPECT_EQ(Holders(step_).Until(given), 50) << "no variable of a later call has it";
  step_.modules.pop_back();
  (void)Add("aten::mul", 58.5, {2});
  EXPECT_EQ(Holders(step_).Until(given), 50) << "the operator may have taken the result's name";
}

// return relu(norm(conv(y)) + shortcut(x)): y is there until the sum is, whose name it cannot have before.
TEST_F(HoldersTest, BehindTheLastCallAVariableHoldsUntilTheNextBlockIsMade) {
  step_.modules[1].name = script_.trace().Intern("layer.shortcut");
  step_.held = {{2, 1}};
  const Operand convolved = Add("aten::conv2d", 20, {2});
  EXPECT_EQ(Holders(step_).Until(convolved), 50) << "nothing is made behind it";
  (void)Add("aten::relu_", 55, {1});
  AddSum();
  EXPECT_EQ(Holders(step_).Until(convolved), 61);
  step_.modules[1].name = script_.trace().Intern("layer.3");
  run_ = script_.Load();
  EXPECT_EQ(Holders(step_).Until(convolved), 50) << "x = block(y) in a loop";
}

// x = x + drop(norm(x)); y = x + drop(last(f(x))): drop is called twice, and not in a loop.
// x = mlp(x), of a copy of what operators are recorded with.
TEST_F(HoldersTest, TheLastCallIsGivenACopyWhereItUsesWhatThatIsACopyOf) {
  step_.modules[1].name = script_.trace().Intern("layer.shortcut");
  step_.held = {{2, 1}};
  step_.blocks[2].copy_of = 0;
  (void)Add("aten::linear", 35, {0});
  AddSum();
  EXPECT_EQ(Holders(step_).SeenUntil(2), 61);
  step_.ops[0].begin = 45, step_.ops[0].end = 46;
  EXPECT_EQ(Holders(step_).SeenUntil(2), 50);
}

TEST_F(HoldersTest, AModuleThatIsCalledTwiceBehindOthersIsNoLoop) {
  const auto name = [&](const char* path) { return script_.trace().Intern(path); };
  step_.modules = {{0, model::kNone, 0, 90},
                   {name("norm"), 0, 15, 17},
                   {name("drop"), 0, 17, 18},
                   {name("last"), 0, 30, 35},
                   {name("drop"), 0, 40, 50}};
  step_.held = {{2, 4}};
  const Operand convolved = Add("aten::conv2d", 20, {2});
  AddSum();
  EXPECT_EQ(Holders(step_).Until(convolved), 61);
  for (const auto& [first, second] : {std::pair("norm", "norm"), {"norms.0", "norms.1"}, {"norm", "drop"}}) {
    step_.modules[1].name = name(first), step_.modules[3].name = name(second);
    run_ = script_.Load();
    EXPECT_EQ(Holders(step_).Until(convolved), 50) << first << " " << second;
  }
}

// Autograd kept the first and the third.
TEST_F(HoldersTest, AFunctionsVariablesGoInTheirOrder) {
  step_.held = {{0, 1, kX, true}, {1, 1, kY, true}, {2, 1, kW, true}};
  step_.blocks[1].end = 88;
  const Operand first = Add("aten::relu", 20, {0}), third = Add("aten::relu", 22, {2});
  EXPECT_LT(Holders(step_).Until(first), 88);
  EXPECT_GT(Holders(step_).Until(first), 87.9);
  EXPECT_NEAR(Holders(step_).Until(third), kReturned, 1e-3);
  step_.held.push_back({1, 1, kW + 1, true}), step_.held[1].block = 2;
  step_.blocks[2].end = 88.5;  // what the last held kept it, as of Informer's samples of keys
  EXPECT_LT(Holders(step_).Until(first), 88) << "before each one behind it";
  step_.held.pop_back(), step_.held[1].block = 1, step_.blocks[2].end = kForever;
  step_.blocks[1].end = kForever;
  EXPECT_LT(Holders(step_).Until(first), Holders(step_).Until(third)) << "also where none was seen to go";
}

TEST_F(HoldersTest, BehindTheLastCallAVariableThatItWasGivenMayHoldItsResult) {
  step_.modules[1].name = script_.trace().Intern("layer.shortcut");
  step_.held = {{2, 1}};
  const Operand given = Add("aten::conv2d", 45, {2});
  AddSum();
  EXPECT_EQ(Holders(step_).Until(given), 50);
}

TEST_F(HoldersTest, OfAllElseNothingIsKnown) {
  const Operand sum = Add("aten::mul", 20, {1, 2});
  EXPECT_EQ(Holders(step_).Until(sum), kBefore);
}

TEST_F(HoldersTest, WhatNothingElseIsAssignedToIsHeldUntilItsFunctionReturns) {
  const Operand inside = Add("aten::linear", 45, {1});
  step_.held = {{1, 1, 7, false}};
  EXPECT_EQ(Holders(step_).Until(inside), 50) << "the call's end is all that is known";
  step_.held = {{1, 1, 7, true}};
  EXPECT_EQ(Holders(step_).Until(inside), kReturned);
}

// normed = norm(x); y = mlp(normed), whose own argument goes when mlp returns: the last of them counts.
TEST_F(HoldersTest, WhatACallThatHoldsItMakesTwoCallsOfItselfIsHeldByTheFunctionAroundAsBefore) {
  step_.modules.push_back({0, 1, 42, 44});
  step_.modules.push_back({0, 1, 45, 47});
  (void)Add("aten::linear", 43, {1});
  step_.held = {{1, 1, kX, true}, {1, 2, kY, true}, {1, 3, kY, true}};
  EXPECT_NEAR(Holders(step_).SeenUntil(1), kReturned, 1e-3);
}

// Of blocks that have become one.
TEST_F(HoldersTest, OfNamesOfOneBlockTheLongestCountsAndAllIsKnownOnlyOfBoth) {
  step_.named = {
      {2, 50, 20, true, true}, {1, 30, 30, true, true}, {2, 40, 35, false, true}, {1, 20, 10, true, false}};
  MergeNamed(step_.named);
  ASSERT_EQ(step_.named.size(), 2u);
  EXPECT_EQ(step_.named[0].block, 1u);
  EXPECT_EQ(step_.named[0].until, 30);
  EXPECT_TRUE(step_.named[0].all);
  EXPECT_FALSE(step_.named[0].itself);
  EXPECT_FALSE(AreNamesKnown(step_, 1));
  EXPECT_EQ(step_.named[1].until, 50);
  EXPECT_FALSE(step_.named[1].all);
  EXPECT_TRUE(AreNamesKnown(step_, 2));
  EXPECT_EQ(NamedUntil(step_, 2), 35) << "the longest of these too";
  EXPECT_EQ(NamedUntil(step_, 0), kBefore);
}

TEST_F(HoldersTest, AFunctionThatIsPutInHasTheCopyThatItIsGiven) {
  Add("aten::type_as", 15, {1, 0});
  HoldInFunction(step_, 1, 20, 30), HoldInFunction(step_, 2, 20, 30);
  EXPECT_EQ(NamedUntil(step_, 1), kBefore);
  EXPECT_EQ(NamedUntil(step_, 2), 30);
}

}  // namespace
}  // namespace vramscope::whatif
