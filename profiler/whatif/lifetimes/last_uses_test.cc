// SPDX-License-Identifier: Apache-2.0
// The order in which operators and nodes free their blocks at one moment. Oracle: C++. Variables are
// destroyed in the reverse order of their declarations, elements of a std::tuple with the first one first.
#include "profiler/whatif/lifetimes/last_uses.h"

#include <gtest/gtest.h>

#include <tuple>

#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class TurnsOfUsesTest : public testing::Test, protected WrittenOperators {
 protected:
  // auto [attended, sums, seed] = attention(query, mask)
  TurnsOfUsesTest() {
    for (const Position begin : {1, 5, 11, 12, 13}) (void)AddBlock(begin, 160);
    attention_ = AddOp("attention", {}, {10, 20}, {kQuery, kMask}, kAttended);
    for (const BlockIndex more : {kSums, kSeed}) {
      Operand result = step_.operands.back();
      result.block = more, ++result.argument;
      step_.operands.push_back(result);
      ++step_.ops.back().output_count;
    }
  }
  // Adds a node with that name that saves the query, the mask and the sums, in this order.
  void Keep(const std::string& name) {
    const NodeIndex node = AddNode(name, attention_, 150);
    (void)AddOp(name, node, {150, 154}, {kAttended}, {});
    for (const BlockIndex block : {kQuery, kMask, kSums}) {
      Saved saved;
      saved.block = block, saved.node = node, saved.at = 15, saved.released = 154;
      step_.saved.push_back(saved);
    }
  }
  [[nodiscard]] Position Unpacked(size_t saved) const {
    return LastUsesOf(step_).UnpackedUntil(step_, step_.saved[saved]);
  }

  static constexpr BlockIndex kQuery = 0, kMask = 1, kAttended = 2, kSums = 3, kSeed = 4;
  OpIndex attention_;
};

TEST_F(TurnsOfUsesTest, ResultsThatNobodyTakesGoInTheirOrderBeforeWhatTheyWereComputedFrom) {
  const std::vector<Position>& held = LastUsesOf(step_).held;
  EXPECT_LT(held[kSums], held[kSeed]);
  EXPECT_LT(held[kSeed], held[kMask]);
  EXPECT_EQ(held[kSums].event, 20);
}

// left = left.expand(...), right = right.expand(...) in matmul: local variables of the operator around the
// product.
TEST_F(TurnsOfUsesTest, WhatTheOperatorAroundMadeGoesWithTheLastArgumentFirst) {
  const OpIndex around = Call("around", {}, 2, 22);
  step_.ops[attention_].parent = around;
  step_.operands[step_.ops[attention_].first_input + 1].argument = 1;
  const BlockIndex third = AddBlock(8, 160);
  step_.operands[step_.ops[attention_].first_input].block = third;
  const std::vector<Position>& held = LastUsesOf(step_).held;
  EXPECT_LT(held[kMask], held[third]);
  EXPECT_LT(held[kSeed], held[kMask]) << "behind the results";
  step_.operands[step_.ops[attention_].first_input + 1].argument = 1000;  // for a library's own operator
  const Step other(step_);
  EXPECT_LT(LastUsesOf(other).held[kSeed], LastUsesOf(other).held[kMask]);
}

TEST_F(TurnsOfUsesTest, WhatANodeUnpacksGoesWithTheLastFirst) {
  Keep("AttentionBackward0");
  EXPECT_GT(Unpacked(0), Unpacked(1));
  EXPECT_GT(Unpacked(1), Unpacked(2));
  EXPECT_EQ(Unpacked(2).event, 154);
}

// leaky_relu_() on a view: CopySlices runs its node.
TEST_F(TurnsOfUsesTest, ANodeWithinCopySlicesUnpacksWhatItKeepsForItsOwnWork) {
  Keep("torch::autograd::CopySlices");
  EXPECT_EQ(Unpacked(0).event, 154);
  EXPECT_EQ(LastUsesOf(step_).works_from[0], 150);
  const OpIndex within = AddOp("LeakyReluBackward1", 0, {152, 153}, {kAttended}, {});
  step_.ops[within].parent = OpIndex(within - 1);
  const Step inside(step_);
  EXPECT_EQ(LastUsesOf(inside).UnpackedUntil(inside, inside.saved[0]).event, 153);
  EXPECT_LT(LastUsesOf(inside).UnpackedUntil(inside, inside.saved[0]), 153);
  EXPECT_EQ(LastUsesOf(inside).works_from[0], 152);
}

// def backward(ctx, grad): query, mask, sums = ctx.saved_tensors
TEST_F(TurnsOfUsesTest, PythonsVariablesDoNot) {
  Keep("AttentionBackward");
  EXPECT_EQ(Unpacked(0), Unpacked(2));
}

// query = query * scale; attn = softmax(matmul(query, key * scale)); return {matmul(attn, value), attn}
class ProductsTest : public testing::Test, protected WrittenOperators {
 protected:
  void Write(const char* around) {
    for (const Position begin : {21, 24, 27, 31, 35}) (void)AddBlock(begin, 160);
    const OpIndex attention = AddOp(around, {}, {20, 40}, {}, kOut);
    for (const auto& [name, time, from, to] :
         {std::tuple{"aten::mul", Window{HooksAfter(20, 50), 22}, std::vector<BlockIndex>{}, kQuery},
          {"aten::mul", {23, 25}, {}, kKey},
          {"aten::matmul", {26, 28}, {kQuery, kKey}, kScores},
          {"aten::softmax", {30, 32}, {kScores}, kWeights},
          {"aten::matmul", {34, 36}, {kWeights}, kOut}}) {
      const OpIndex op = AddOp(name, {}, time, from, to);
      step_.ops[op].parent = attention;
      if (from.size() == 2) step_.operands[step_.ops[op].first_input + 1].argument = 1;
    }
  }
  static constexpr BlockIndex kQuery = 0, kKey = 1, kScores = 2, kWeights = 3, kOut = 4;
};

TEST_F(ProductsTest, AttentionHasItsQueriesAndWeightsInVariablesUntilItReturns) {
  Write("aten::_scaled_dot_product_attention_math");
  const std::vector<Position>& held = LastUsesOf(step_).held;
  EXPECT_EQ(held[kQuery].event, 40);
  EXPECT_EQ(held[kWeights].event, 40);
  EXPECT_LT(held[kWeights], held[kQuery]) << "declared behind them";
  EXPECT_EQ(held[kKey].event, 28);
  EXPECT_EQ(held[kScores].event, 32);
}

TEST_F(ProductsTest, OtherOperatorsMayHaveNone) {
  Write("aten::attend");
  EXPECT_EQ(LastUsesOf(step_).held[kQuery].event, 28);
}

}  // namespace
}  // namespace vramscope::whatif
