// SPDX-License-Identifier: Apache-2.0
// Which types gradients have, and when they are converted, under autocast: steps put together by hand.
//
//   forward    attention(query, key)            converts the key, then the query
//   backward   attention ─ query ─ key ─ ...    what was converted last comes first, before any other node
#include "profiler/whatif/precision_gradients.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/precision.h"
#include "profiler/whatif/precision_versions.h"
#include "profiler/whatif/testing/loop.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint64_t kQuery = 64 * 64 * 4, kKey = 32 * 64 * 4;

class GradientMomentsTest : public testing::Test, protected WrittenStep {
 protected:
  GradientMomentsTest() {
    step_.shapes = {{}, {0, 2, true}, {2, 2, true}};
    step_.dims = {64, 64, 32, 64};
    const uint32_t query = AddBlock(5, 190), key = AddBlock(6, 190), out = AddBlock(11, 190);
    node_ = Node(110);
    Work(10, node_, {query, out});
    step_.ops[0].input_count = 2;
    step_.operands[0].shape = 1;
    step_.operands[1] = {0, key, 2};
    step_.nodes[node_].op = 0;
    step_.nodes[node_].made = 11;
    step_.nodes.push_back({Text("ViewBackward0"), 0, 11.5, 114, 116});
    rules_ = {CastRule::kLow, CastRule::kNone};
    Work(111, node_, {query, out});
    step_.ops[1].node = node_;
    of_key_ = Made(kKey), of_query_ = Made(kQuery);
  }

  uint32_t Made(uint64_t bytes) {
    const uint32_t block = AddBlock(111.5, 190);
    step_.blocks[block].requested = bytes;
    step_.blocks[block].op = 1;
    return block;
  }

  std::vector<CastRule> rules_;
  uint32_t node_ = 0, of_key_ = 0, of_query_ = 0;
};

TEST_F(GradientMomentsTest, ArgumentsAreConvertedBehindAllNodesOfTheirCallTheFirstBeforeTheOthers) {
  GradientMoments moments(step_, rules_);
  moments.Converts(0);
  EXPECT_GT(moments.OfArgument(of_query_), 116);
  EXPECT_GT(moments.OfArgument(of_key_), moments.OfArgument(of_query_));
  EXPECT_LT(moments.OfArgument(of_key_), 117);
}

TEST_F(GradientMomentsTest, WhereTheCallConvertedNothingThereIsNoNodeForIt) {
  const GradientMoments moments(step_, rules_);
  EXPECT_EQ(moments.OfArgument(of_query_), kForever);
}

// A function of the program's own from 10 to 40: x ─► kept ─► result ─► passing.
class FunctionTest : public testing::Test, protected WrittenStep {
 protected:
  FunctionTest() {
    x_ = AddBlock(5, 160), kept_ = AddBlock(12.5, 160), result_ = AddBlock(20.5, 160),
    passing_ = AddBlock(30.5, 33);
    Op function;
    function.begin = 10, function.end = 40;
    step_.ops.push_back(function);
    const uint32_t node = Node(150);
    Work(12, node, {x_, kept_}), Work(20, node, {kept_, result_}), Work(30, node, {result_, passing_});
    Work(50, node, {result_, AddBlock(50.5, 160)});
    for (uint32_t i = 1; i <= 3; ++i) step_.ops[i].parent = 0;
  }
  uint32_t x_, kept_, result_, passing_;
};

TEST_F(FunctionTest, WithoutResultsReturnsWhatTheLastOperatorInItMadeThatOutlivesIt) {
  ASSERT_EQ(OutputsOf(step_, step_.ops[0]).size(), 0u);
  ASSERT_EQ(ResultsOf(step_, 0).size(), 1u);
  EXPECT_EQ(ResultsOf(step_, 0)[0].block, result_);
}

TEST_F(FunctionTest, AnOperatorThatToldItsResultsHasThose) {
  EXPECT_EQ(ResultsOf(step_, 3)[0].block, passing_);
}

// hidden.to(float32) for a product that autocast takes back to 16 bits: two nodes before the one that made
// hidden, the gradient in float32 between them.
TEST(ThereAndBackTest, AGradientIsConvertedTwiceBeforeItsNode) {
  const whatif::Step step = TheLoop().Read();
  const auto operand = std::find_if(step.operands.begin(), step.operands.end(), [&](const Operand& one) {
    return one.block != kNone && step.blocks[one.block].id == TheLoop().s.Id("between");
  });
  const auto node = std::find_if(step.nodes.begin(), step.nodes.end(), [&](const whatif::Node& one) {
    return step.Text(one.name) == "MmBackward0";
  });
  ASSERT_TRUE(operand != step.operands.end() && node != step.nodes.end());
  const uint32_t between = operand->block;
  Versions versions(step, kFloatType);
  versions.Decide(between, kBfloat16Type);
  versions.ThereAndBack(between, kFloatType, node->begin - kBeforeNode, node->begin, *operand);
  versions.Used(between, node->begin + 1);
  std::vector<uint32_t> saved;
  for (const Saved& one : step.saved) saved.push_back(one.block);
  const whatif::Step changed = std::move(versions).Finish(saved);
  ASSERT_EQ(changed.blocks.size(), step.blocks.size() + 2);
  const StepBlock& itself = changed.blocks[between];
  const StepBlock& there = changed.blocks[step.blocks.size()];
  const StepBlock& back = changed.blocks[step.blocks.size() + 1];
  EXPECT_EQ(itself.requested, kBatchBytes / 2);
  EXPECT_EQ(there.requested, kBatchBytes);
  EXPECT_EQ(back.requested, kBatchBytes / 2);
  EXPECT_GT(itself.end, there.begin);
  EXPECT_LT(itself.end, back.begin) << "gone with its conversion";
  EXPECT_GT(there.end, back.begin);
  EXPECT_LT(there.end, node->begin);
  EXPECT_EQ(back.end, step.blocks[between].end) << "what the node is given";
}

}  // namespace
}  // namespace vramscope::whatif
