// SPDX-License-Identifier: Apache-2.0
// How long variables hold the results of a forward pass, in a hand-written step.
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
    step_.modules.push_back({0, {}, 0, 90});
    step_.modules.push_back({0, 0, 40, 50});
    for (const Position begin : {5, 12, 14}) {
      StepBlock block;
      block.begin = begin;
      step_.blocks.push_back(block);
    }
  }

  // Adds an operator that uses these blocks; returns its last operand.
  Operand Add(const char* name, Position at, std::vector<BlockIndex> blocks) {
    Op op;
    op.name = script_.trace().Intern(name);
    op.begin = at;
    op.end = at + 1;
    op.first_input = static_cast<uint32_t>(step_.operands.size());
    op.input_count = static_cast<uint32_t>(blocks.size());
    for (const BlockIndex block : blocks) {
      Operand operand;
      operand.op = step_.ops.Next();
      operand.block = block;
      step_.operands.push_back(operand);
    }
    step_.ops.push_back(op);
    run_ = script_.Load();
    return step_.operands.back();
  }

  static constexpr Position kReturned = In(Stage::kReturns, 90);  // of the layer: its variables are freed
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

TEST_F(HoldersTest, ANameThatTheNextProductsOperandGetsHoldsNoLonger) {
  for (const BlockIndex made : {1, 2}) {
    const Position at = made == 1 ? 14 : 30;
    (void)Add("aten::index", at, {0});
    step_.blocks[made].op = OpIndex(step_.ops.size() - 1);
    step_.blocks[made].begin = HooksAfter(at, 50);
    (void)Add("aten::bmm", at + 6, {0, made});
  }
  const Operand first = step_.operands[2], second = step_.operands.back();
  EXPECT_EQ(Holders(step_).Until(first), 31) << "the second index has ended";
  EXPECT_EQ(Holders(step_).Until(second), kReturned);
  // k and v of attention both exist when the first product begins.
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

TEST_F(HoldersTest, WhatACallReturnedBeforeAnotherThatDoesNotUseItIsKeptUntilTheFunctionEnds) {
  (void)Add("aten::silu", 45, {1});
  step_.blocks[0].op = 0, step_.blocks[0].begin = HooksAfter(45, 50);
  const Operand soon = Add("aten::cat", 55, {0});
  EXPECT_EQ(Holders(step_).Until(soon), kBefore);
  step_.modules.push_back({0, 0, 60, 70}), (void)Add("aten::linear", 65, {2});
  const Operand later = Add("aten::cat", 75, {0});
  EXPECT_EQ(Holders(step_).Until(later), kReturned);
}

TEST_F(HoldersTest, OfAllElseNothingIsKnown) {
  const Operand sum = Add("aten::mul", 20, {1, 2});
  EXPECT_EQ(Holders(step_).Until(sum), kBefore);
}

}  // namespace
}  // namespace vramscope::whatif
