// SPDX-License-Identifier: Apache-2.0
// Which types gradients have, and when they are converted, under autocast: steps put together by hand.
//
//   forward    attention(query, key)            converts the key, then the query
//   backward   attention ─ query ─ key ─ ...    what was converted last comes first, before any other node
#include "profiler/whatif/precision/gradients.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/precision/moments.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/testing/loop.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint64_t kQueryBytes = 64 * 64 * 4, kKeyBytes = 32 * 64 * 4;

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
    rules_ = {CastRule::kLow, CastRule::kAsGiven};
    Work(111, node_, {query, out});
    step_.ops[1].node = node_;
    of_key_ = Made(kKeyBytes), of_query_ = Made(kQueryBytes);
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

// einsum() converts a list from its first to its last.
TEST_F(GradientMomentsTest, OfAListTheLastIsConvertedBeforeTheOthers) {
  step_.operands[0].element = 1, step_.operands[1].element = 2;
  GradientMoments moments(step_, rules_);
  moments.Converts(0);
  EXPECT_GT(moments.OfArgument(of_key_), 116);
  EXPECT_GT(moments.OfArgument(of_query_), moments.OfArgument(of_key_));
}

TEST_F(GradientMomentsTest, WhereTheCallConvertedNothingThereIsNoNodeForIt) {
  const GradientMoments moments(step_, rules_);
  EXPECT_EQ(moments.OfArgument(of_query_), kForever);
}

// mm's derivatives come in the order of "mat2", "self": PyTorch's generator sorts them by name.
TEST_F(GradientMomentsTest, OfEqualGradientsAProductMakesThatOfItsSecondFactorFirst) {
  step_.operands[1].shape = 1;
  step_.blocks[of_key_].requested = kQueryBytes;
  const auto first_made_is_first_converted = [&] {
    GradientMoments moments(step_, rules_);
    moments.Converts(0);
    return moments.OfArgument(of_key_) < moments.OfArgument(of_query_);
  };
  EXPECT_TRUE(first_made_is_first_converted());
  step_.ops[0].name = Text("aten::mm");
  EXPECT_FALSE(first_made_is_first_converted());
}

TEST_F(GradientMomentsTest, GradientsOfParametersComeInTheOrderOfArgumentsWheneverTheyAreTakenOver) {
  step_.nodes.push_back({Text("next"), 0, 9, 130, 140});
  const GradientMoments moments(step_, rules_);
  Operand of_first, of_second;
  of_first.block = of_query_, of_second.block = of_key_;
  EXPECT_LT(moments.OfLeaf(of_first, 112, 118), moments.OfLeaf(of_second, 112, 113));
}

// The first one is laid out anew when it is accumulated, as that of a filter is.
TEST_F(GradientMomentsTest, AGradientOfAParameterIsConvertedWhenTheOneBeforeItIsAccumulated) {
  step_.nodes.push_back({Text("next"), 0, 9, 130, 140});
  step_.nodes.push_back({Text("torch::autograd::AccumulateGrad"), kNone, kBefore, 117, 120});
  step_.nodes.push_back({Text("torch::autograd::AccumulateGrad"), kNone, kBefore, 121, 124});
  const GradientMoments moments(step_, rules_);
  Operand of_first, of_second;
  of_first.block = of_query_, of_second.block = of_key_;
  EXPECT_LT(moments.OfLeaf(of_first, 112, 118), 117);
  EXPECT_GT(moments.OfLeaf(of_second, 112, 122), 120);
  EXPECT_LT(moments.OfLeaf(of_second, 112, 122), 121);
  EXPECT_LT(moments.OfLeaf(of_second, 112, 150), 117)
      << "it is accumulated when other calls have added theirs";
}

// Nothing comes behind those of the first layer.
TEST_F(GradientMomentsTest, SoDoThoseOfTheLastNodesOfAPass) {
  step_.backward = {{100, 180}};
  Operand of_first, of_second;
  of_first.block = of_query_, of_second.block = of_key_;
  const GradientMoments moments(step_, rules_);
  EXPECT_GT(moments.OfLeaf(of_second, 112, 113), 116) << "behind all nodes of the call";
  EXPECT_LT(moments.OfLeaf(of_first, 112, 118), moments.OfLeaf(of_second, 112, 113));
}

TEST_F(GradientMomentsTest, WhatTheEngineAddsUpInANodeIsNoArgumentsGradient) {
  GradientMoments moments(step_, rules_);
  moments.Converts(0);
  EXPECT_LT(moments.OfArgument(of_query_), kForever);
  step_.ops[1].name = Text("aten::add");
  EXPECT_EQ(moments.OfArgument(of_query_), kForever);
}

TEST_F(GradientMomentsTest, AViewIsCheckedWhenItsNodeHandsItOn) {
  constexpr uint64_t kView = 77;
  Operand gradient = step_.operands.back();
  gradient.tensor = kView;
  EXPECT_EQ(GradientMoments(step_, rules_).ViewedBefore(gradient, 150), kBefore);
  Work(140, node_, {of_query_, gradient.block});
  step_.operands.back().tensor = kView;
  EXPECT_NEAR(GradientMoments(step_, rules_).ViewedBefore(gradient, 150), 142, 0.1);
  EXPECT_EQ(GradientMoments(step_, rules_).ViewedBefore(gradient, 141), kBefore);
}

// scale * x, of one scale for each column: the engine sums up its gradient.
TEST_F(GradientMomentsTest, TheEngineChecksGradientsInTheOrderOfArgumentsAndSumsUpFirst) {
  step_.ops[1].name = step_.nodes[node_].name;
  Work(120, node_, {of_query_, of_query_});
  step_.ops[2].node = node_;
  step_.ops[2].name = Text("aten::sum");
  step_.operands.back().shape = 1;
  const GradientMoments moments(step_, rules_);
  EXPECT_LT(moments.Checked(1, of_query_), 120);
  EXPECT_GT(moments.Checked(1, of_key_), 123) << "behind the sum for the first, and what that gave up";
  EXPECT_GT(moments.Checked(2, of_query_), 123);
}

// x + f(x): the node of the addition hands its gradient on to x and to f, and is done with both by then.
TEST_F(GradientMomentsTest, WhatASumIsGivenIsCheckedBehindTheNodeThatOnlyHandsItOn) {
  rules_ = {CastRule::kAsGiven, CastRule::kAsGiven};
  Work(140, node_, {of_query_, of_query_});
  GradientMoments moments(step_, rules_);
  Operand gradient;
  gradient.block = of_key_;
  EXPECT_LT(moments.OfAdded(gradient, kNone, 160, node_), 120);
  EXPECT_GT(moments.OfAdded(gradient, 2, 160, node_), 142);
  EXPECT_LT(moments.OfAdded(gradient, 2, 141, node_), 141);
}

// x[..., i] = f(x): the node of the copy is run by the one of what is written to, which goes on then.
TEST_F(GradientMomentsTest, WhatIsCopiedToAPartIsConvertedByTheNodeOfTheCopy) {
  EXPECT_NEAR(GradientMoments(step_, rules_).ProducedBefore(of_key_, 150), 114.5, 0.1);
  Work(112, node_, {of_key_, of_key_});
  step_.ops[1].end = 120;
  step_.ops.back().name = Text("torch::autograd::CopyBackwards");
  step_.ops.back().parent = 1;
  const GradientMoments moments(step_, rules_);
  EXPECT_NEAR(moments.ProducedBefore(of_key_, 150), 114, 0.1);
  Operand gradient;
  gradient.block = of_key_;
  EXPECT_NEAR(moments.ViewedBefore(gradient, 150), 114, 0.1);
  EXPECT_NEAR(moments.ProducedBefore(of_query_, 150), 121.5, 0.1) << "by the engine, behind the node";
}

// cat([a + b, c]): its gradient's parts lie in one block, and the addition is given one of them.
TEST_F(GradientMomentsTest, AnAdditionHandsOnTheTensorThatItWasGivenAlone) {
  constexpr uint64_t kPart = 71, kOther = 72;
  step_.nodes[node_].name = Text("AddBackward0");
  step_.ops[1].name = step_.nodes[node_].name;
  Operand& given = step_.operands[step_.ops[1].first_input];
  given.tensor = kPart;
  given.dtype = kFloatType;
  const Consumers consumers(step_);
  Operand part = given, other = given;
  other.tensor = kOther;
  EXPECT_EQ(consumers.HandedOn(part, true, 150), 1u);
  EXPECT_EQ(consumers.HandedOn(other, true, 150), kNone);
  EXPECT_EQ(consumers.HandedOn(other, false, 150), 1u) << "no operator made it a part";
  EXPECT_EQ(consumers.HandedOn(part, true, 112), kNone) << "not yet";
  const auto hands_on = [&](const char* node) {
    step_.ops[1].name = step_.nodes[node_].name = Text(node);
    return Consumers(step_).HandedOn(part, true, 150) == 1u;
  };
  EXPECT_TRUE(hands_on("SubBackward0"));
  EXPECT_FALSE(hands_on("MulBackward0"));
  // Of the node of what was added up.
  const uint32_t of_query = Node(160), query = step_.operands[0].block;
  const auto made = static_cast<uint32_t>(step_.ops.size());
  Work(7, of_query, {AddBlock(4, 190), query});
  step_.nodes[of_query].op = made;
  const auto edge = [&](const char* node) {
    step_.ops[1].name = step_.nodes[node_].name = Text(node);
    return Consumers(step_).HandedOnTo(of_query, part.block, 150);
  };
  EXPECT_EQ(edge("AddBackward0"), 1u);
  EXPECT_EQ(edge("SubBackward0"), kNone) << "no other edge has what this one has";
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

TEST(WeightsTest, AutocastKeepsNoCopyOfAPartOfAParameter) {
  const whatif::Step step = TheLoop().Read();
  ASSERT_FALSE(step.trained.empty());
  const Versions versions(step, kFloatType);
  Operand weight;
  weight.block = step.trained[0];
  EXPECT_TRUE(versions.IsWeight(weight));
  weight.flags = trace::kTensorIsView;
  EXPECT_FALSE(versions.IsWeight(weight));
}

// A loss that the model divides, and the loop behind it, if `by_loop`.
class LeavingAutocastTest : public testing::Test, protected WrittenStep {
 protected:
  [[nodiscard]] Position EndOfCopy(bool by_loop) {
    Module("model", 5, by_loop ? 40 : 60);
    const uint32_t weight = AddBlock(kBefore, kForever), result = AddBlock(10.5, 60),
                   loss = AddBlock(50.5, 150);
    step_.trained = {weight};
    const uint32_t node = Node(150);
    Work(10, node, {weight, result}), Work(50, node, {result, loss}),
        Work(90, node, {loss, AddBlock(90.5, 150)});
    step_.ops[0].name = Text("aten::linear");
    step_.ops[1].name = Text("aten::div");
    step_.ops[2].name = Text("aten::ones_like");
    step_.saved.clear();
    for (Operand& operand : step_.operands) operand.dtype = kFloatType;
    const whatif::Step changed = UnderAutocast(step_, kBfloat16Type);
    for (const StepBlock& block : changed.blocks)
      if (block.copy_of == weight) return block.end;
    return kBefore;
  }
};

TEST_F(LeavingAutocastTest, WhatTheLoopMakesOfTheLossIsBehindIt) { EXPECT_NEAR(EndOfCopy(true), 49.5, 0.1); }

TEST_F(LeavingAutocastTest, WhatTheModelMakesOfItIsNot) { EXPECT_NEAR(EndOfCopy(false), 89.5, 0.1); }

TEST(ConvertedCopiesTest, WhatTheProgramTakesBackToSixteenBitsHasANodeToo) {
  const whatif::Step step = TheLoop().Read();
  const auto operand = std::find_if(step.operands.begin(), step.operands.end(), [&](const Operand& one) {
    return one.block != kNone && step.blocks[one.block].id == TheLoop().s.Id("hidden");
  });
  ASSERT_TRUE(operand != step.operands.end());
  Versions versions(step, kFloatType);
  versions.Decide(operand->block, kFloatType);
  versions.Widen(operand->block, 0);
  EXPECT_FALSE(versions.HaveConverted({&*operand, 1}, kBfloat16Type));
  versions.Cast(operand->block, kBfloat16Type, step.blocks[operand->block].begin + 0.5, kNone, *operand);
  EXPECT_TRUE(versions.HaveConverted({&*operand, 1}, kBfloat16Type));
  EXPECT_FALSE(versions.HaveConverted({&*operand, 1}, kFloatType));
  EXPECT_FALSE(versions.Widened(operand->block))
      << "so that a sum with it is none that the program made wider";
}

// OLMo's norm ends with (weight * x).to(type): a variable of who called it, which holds the tensor in
// float32, holds what it was converted to.
TEST(ConvertedCopiesTest, WhoHoldsWhatAFunctionConvertedBackHoldsTheCopy) {
  const whatif::Step step = TheLoop().Read();
  const auto operand = std::find_if(step.operands.begin(), step.operands.end(), [&](const Operand& one) {
    return one.block != kNone && step.blocks[one.block].id == TheLoop().s.Id("hidden");
  });
  ASSERT_TRUE(operand != step.operands.end());
  const StepBlock& recorded = step.blocks[operand->block];
  const Position converted = recorded.begin + 0.2, returned = recorded.begin + 0.4;
  ASSERT_GT(recorded.end, returned + 1);
  Versions versions(step, kFloatType);
  versions.Decide(operand->block, kFloatType);
  versions.Cast(operand->block, kBfloat16Type, converted, kNone, *operand);
  versions.Return(operand->block, returned);
  versions.Held(operand->block, recorded.end);
  std::vector<uint32_t> kept;
  for (const Saved& saved : step.saved)
    kept.push_back(saved.block == operand->block ? versions.Current(saved.block) : saved.block);
  const whatif::Step changed = std::move(versions).Finish(kept);
  EXPECT_NEAR(changed.blocks[operand->block].end, returned, 0.1);
  EXPECT_NEAR(changed.blocks.back().end, recorded.end, 0.1);
}

// The residual's gradient: float32 of a norm, converted, and added to in 16 bits. What it was is not it any
// more.
TEST(ConvertedCopiesTest, WhatACopyWasWrittenToIsConvertedAnew) {
  const whatif::Step step = TheLoop().Read();
  const Position backward = step.backward.front().begin + 1;
  const auto operand = std::find_if(step.operands.begin(), step.operands.end(), [&](const Operand& one) {
    return one.block != kNone && step.blocks[one.block].id == TheLoop().s.Id("hidden");
  });
  ASSERT_TRUE(operand != step.operands.end());
  for (const bool written : {false, true}) {
    Versions versions(step, kFloatType);
    versions.Decide(operand->block, kFloatType);
    versions.Cast(operand->block, kBfloat16Type, backward, kNone, *operand);
    if (written) versions.Written(operand->block, backward + 0.1);
    versions.Cast(operand->block, kFloatType, backward + 0.2, kNone, *operand);
    EXPECT_EQ(versions.IsCopy(operand->block), written);
    EXPECT_EQ(versions.TypeOf(operand->block), kFloatType);
  }
}

}  // namespace
}  // namespace vramscope::whatif
