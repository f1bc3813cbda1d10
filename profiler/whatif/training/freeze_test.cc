// SPDX-License-Identifier: Apache-2.0
// Which operators of backward still run when some parameters are frozen, and what they make.
#include "profiler/whatif/training/freeze.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/checkpoints/kept_ops.h"
#include "profiler/whatif/testing/frozen_layer.h"
#include "profiler/whatif/training/input_gradients.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

TEST_F(FreezeBackwardTest, WhatAnOperatorMakesForItselfIsMadeWhenItRuns) {
  const Step frozen = WithFrozen(bias_);
  EXPECT_EQ(frozen.blocks[scratch_].requested, 512u);
  EXPECT_EQ(frozen.blocks[packed_].requested, 512u) << "by what it calls for that";
  EXPECT_EQ(frozen.blocks[of_query_].requested, 512u);
}

TEST_F(FreezeBackwardTest, WhatOnlyAFrozenGradientNeededIsNot) {
  EXPECT_EQ(WithFrozen(bias_).blocks[of_bias_].requested, 0u);
  const Step frozen = WithFrozen(query_);
  EXPECT_EQ(frozen.blocks[of_query_].requested, 0u);
  EXPECT_EQ(frozen.blocks[scratch_].requested, 0u) << "its operator does not run";
  EXPECT_EQ(frozen.blocks[of_bias_].requested, 512u);
}

// cuDNN's batch norm has no mask of what is asked for.
TEST_F(FreezeBackwardTest, WhatIsComputedInAnyCaseGoesWithItsOperator) {
  constexpr uint32_t kKernel = 2;
  step_.blocks[of_bias_].op = AddOp("aten::empty", kKernel, 0, {119, 120.5}, {}, {of_bias_});
  step_.blocks[of_bias_].begin = 120;
  SortEnds();
  EXPECT_EQ(WithFrozen(bias_).blocks[of_bias_].requested, 0u);
  step_.ops[kKernel].name = Text("aten::cudnn_batch_norm_backward");
  const StepBlock made = WithFrozen(bias_).blocks[of_bias_];
  EXPECT_EQ(made.requested, 512u);
  EXPECT_NEAR(made.end, step_.ops[kKernel].end, 0.01);
  EXPECT_EQ(made.accumulated, kForever);
}

// What enable_input_require_grads() does to what an embedding returns.
TEST_F(FreezeBackwardTest, WhatAFrozenModuleReturnsStaysAsALeafWhereItsGradientIsAskedFor) {
  const auto all = [](uint32_t) { return true; };
  EXPECT_LT(Frozen(step_, all).blocks[out_].end, 200);
  EXPECT_EQ(Frozen(step_, all).nodes[0].end, kForever);
  for (Operand& operand : step_.operands) {
    if (operand.op == 0 && operand.block == out_) operand.flags |= kAsksForGradient;
  }
  EXPECT_GT(Frozen(step_, all).blocks[out_].end, 299);
  EXPECT_EQ(Frozen(step_, all).nodes[0].end, 130);
  // The loss of the step before goes while this one's backward has not begun: so does the graph, a step
  // later.
  StepBlock loss;
  loss.requested = 4, loss.begin = kBefore, loss.end = 95;
  step_.blocks.push_back(loss);
  EXPECT_NEAR(Frozen(step_, all).blocks[out_].end, step_.length + 95, 0.01);
  step_.blocks.back().requested = 4096;
  EXPECT_LT(Frozen(step_, all).blocks[out_].end, step_.length) << "no number";
}

// A tower that is recorded frozen, in front of which nothing is trained either, has no nodes.
TEST_F(FreezeBackwardTest, OfAModuleWithoutNodesItIsNotKnownWhatItsGradientsWouldNeed) {
  const auto asked = [&](const char* name) { return AskingForGradients(step_, name); };
  ModuleCall call;
  call.name = Text("embed"), call.begin = 0, call.end = 100;
  step_.modules.push_back(call);
  EXPECT_TRUE(asked("embed").ok());
  step_.modules.back().begin = 99.9;
  ASSERT_FALSE(asked("embed").ok());
  EXPECT_EQ(
      asked("embed").error().sentence,
      "embed computes nothing with gradients in the recorded step, which does not show what would be kept "
      "behind it: record a step in which it does.");
  EXPECT_NE(asked("other").error().sentence, asked("embed").error().sentence) << "there is none";
}

// RoCBERT joins what its embedding returns with others, so that the gradient is a part of theirs.
TEST_F(FreezeBackwardTest, AGradientOfALeafThatIsAPartOfABlockIsCopied) {
  step_.nodes[0].name = step_.ops[1].name;
  const auto last = [&](const char* strides, const char* of_leaf) {
    step_.shapes.resize(1);
    for (const char* const dims : {"8,4", strides, of_leaf})
      step_.shapes.push_back(ParseShape(dims, step_.dims));
    for (Operand& operand : step_.operands) {
      const bool leaf = operand.op == 0;
      if (operand.op > 1 || operand.block != out_) continue;
      if (leaf) operand.flags |= kAsksForGradient;
      operand.dtype = 6, operand.shape = 1, operand.strides = leaf ? 3 : 2;
    }
    return Frozen(step_, [](uint32_t) { return true; }).blocks.back();
  };
  EXPECT_EQ(last("4,1", "4,1").copy_of, kNone);
  EXPECT_EQ(last("1,8", "1,8").copy_of, kNone) << "it lies as the leaf does";
  EXPECT_EQ(last("4,1", "1,8").copy_of, out_);
  const StepBlock copy = last("16,1", "4,1");
  EXPECT_EQ(copy.copy_of, out_);
  EXPECT_EQ(copy.requested, 8u * 4 * 4);
  EXPECT_NEAR(copy.begin, 110, 0.01);
  EXPECT_GT(copy.end, 299) << "as long as the graph";
}

TEST(CheckpointChoiceTest, ModulesWhoseResultsRequireGradientsAreNamedBehindInputs) {
  EXPECT_EQ(ParseCheckpoint("all,inputs:embed+tables.*")->inputs, "embed,tables.*");
  EXPECT_EQ(ParseCheckpoint("inputs:embed")->modules, "all");
  EXPECT_FALSE(ParseCheckpoint("all,inputs:").ok());
  EXPECT_EQ(ParseCheckpoint("inputs:embed,masks:a+b")->masks, "a,b");
  EXPECT_EQ(ParseCheckpoint("masks:a")->modules, "all");
  EXPECT_FALSE(ParseCheckpoint("masks:").ok());
}

TEST_F(FreezeBackwardTest, WhatIsMultipliedWithAFrozenWeightIsNotCopiedToBeOneMatrix) {
  EXPECT_EQ(WithFrozen(bias_).blocks[folded_].requested, 0u);
  EXPECT_EQ(WithFrozen(query_).blocks[folded_].requested, 512u);
}

// Backward of a convolution of a frozen query: its gradient comes first, then that of the bias, each followed
// by a workspace.
TEST_F(FreezeBackwardTest, AConvolutionComputesNoGradientOfWhatIsFrozenNorTakesItsWorkspace) {
  const uint32_t of_input = Add("", 160.2, 170), first = Add("", 160.4, 160.5);
  const uint32_t of_weight = Gradient("bias", 160.6, 166), second = Add("", 160.8, 160.9);
  const uint32_t kernel =
      AddOp("aten::convolution_backward", kNone, 0, {160, 161}, {out_}, {of_input, of_weight});
  for (const uint32_t block : {of_input, first, of_weight, second}) step_.blocks[block].op = kernel;
  (void)AddOp("AccumulateGrad", kNone, 1, {166, 167}, {of_weight}, {});
  const uint32_t next = AddOp("aten::neg", 2, 0, {162, 163}, {of_input}, {of_query_});
  for (const uint32_t op : {kernel, next}) step_.op_ends.insert(step_.op_ends.end() - 2, op);
  const Step query_frozen = WithFrozen(query_);
  EXPECT_EQ(query_frozen.blocks[of_input].requested, 0u);
  EXPECT_EQ(query_frozen.blocks[first].requested, 0u);
  EXPECT_EQ(query_frozen.blocks[of_weight].requested, 512u);
  EXPECT_EQ(query_frozen.blocks[second].requested, 512u);
  const Step bias_frozen = WithFrozen(bias_);
  EXPECT_EQ(bias_frozen.blocks[first].requested, 512u);
  EXPECT_EQ(bias_frozen.blocks[of_weight].requested, 0u);
  EXPECT_EQ(bias_frozen.blocks[second].requested, 0u);
}

// Of queries that come from frozen layers alone, and keys that do not.
TEST_F(FreezeBackwardTest, AttentionComputesAllItsGradientsAndLetsGoOfThoseThatNothingNeeds) {
  const uint32_t of_queries = Add("", 122.2, 160), of_keys = Gradient("bias", 122.6, 152);
  const uint32_t of_mask = Add("", 122.9, 160);
  const uint32_t kernel = AddOp("aten::_efficient_attention_backward", 1, 0, {122, 123.5}, {out_},
                                {of_queries, of_keys, of_mask});
  for (uint16_t i = 0; i < 3; ++i)
    step_.operands[step_.ops[kernel].first_output + i].argument = i == 2 ? 3 : i;
  step_.blocks[of_mask].op = AddOp("aten::empty", kernel, 0, {122.8, 123}, {}, {of_mask});
  step_.blocks[of_queries].op = AddOp("aten::empty", kernel, 0, {122.1, 122.3}, {}, {of_queries});
  step_.blocks[of_keys].op = AddOp("aten::empty", kernel, 0, {122.5, 122.7}, {}, {of_keys});
  const uint32_t next = AddOp("aten::neg", 1, 0, {126, 127}, {of_queries}, {of_query_});
  (void)AddOp("AccumulateGrad", kNone, 1, {152, 153}, {of_keys}, {});
  SortEnds();
  step_.blocks[of_query_].op = next;
  const Step frozen = WithFrozen(query_);
  EXPECT_EQ(frozen.blocks[of_queries].requested, 512u);
  EXPECT_GT(frozen.blocks[of_queries].end, 127) << "not before the node's own function returns";
  EXPECT_LT(frozen.blocks[of_queries].end, 129);
  EXPECT_EQ(frozen.blocks[of_mask].requested, 0u) << "it is not asked for";
  EXPECT_EQ(frozen.blocks[of_keys].end, step_.blocks[of_keys].end);
  EXPECT_EQ(WithFrozen(bias_).blocks[of_queries].end, 160);
}

// x + f(x) without a gradient of x: the node that is still made is the last to be given it. The recorded one
// held it until it had summed up the gradient of its bias and let go of what it kept.
TEST_F(FreezeBackwardTest, AGradientGoesWithTheLastNodeThatIsMade) {
  const uint32_t gradient = Add("", 105, 132);
  const auto made = static_cast<uint32_t>(step_.nodes.size());
  step_.nodes.push_back({Text("MulBackward"), kNone, kBefore, 103, 109});
  const uint32_t first = AddOp("aten::mul", kNone, made, {104, 105.5}, {}, {gradient});
  const uint32_t last = AddOp("aten::mul", kNone, made, {106, 108}, {gradient}, {});
  const uint32_t dropped = AddOp("aten::neg", kNone, 0, {127, 129}, {gradient}, {});
  step_.blocks[gradient].op = first;
  step_.op_ends.insert(step_.op_ends.end() - 2, {first, last, dropped});
  EXPECT_EQ(Frozen(step_, [](uint32_t) { return false; }).blocks[gradient].end, 132);
  EXPECT_NEAR(Frozen(step_, [](uint32_t) { return true; }).blocks[gradient].end, 108, 0.01);
}

TEST_F(FreezeBackwardTest, AttentionSumsRowsForItsNodeAlone) {
  const uint32_t result = Add("", 20.4, 140), sums = Add("", 20.6, 140);
  const uint32_t attention = AddOp("aten::_scaled_dot_product_efficient_attention", kNone, kNone, {20, 22},
                                   {query_}, {result, sums});
  step_.operands.back().argument = 1;
  step_.blocks[result].op = step_.blocks[sums].op = attention;
  step_.op_ends.insert(step_.op_ends.begin(), attention);
  step_.nodes.push_back({Text("AttentionBackward"), attention, 20.1, 135, 141});
  EXPECT_EQ(WithFrozen(query_).blocks[sums].requested, 0u);
  EXPECT_EQ(WithFrozen(query_).blocks[result].requested, 512u);
  EXPECT_EQ(WithFrozen(bias_).blocks[sums].requested, 512u);
}

TEST_F(FreezeBackwardTest, WhatAFunctionOfPythonsMakesOfFrozenParametersNeedsNoGradient) {
  const uint32_t within = Add("", 20.4, 160), result = Add("", 21.2, 160), last = Add("", 25, 160);
  const uint32_t function = AddOp("Function", kNone, kNone, {20, 22}, {query_}, {});
  (void)AddOp("aten::masked_fill", function, kNone, {20.3, 20.8}, {query_}, {within});
  (void)AddOp("aten::mul", function, kNone, {21, 21.8}, {within}, {result});
  const uint32_t next = AddOp("aten::neg", kNone, kNone, {24, 26}, {result}, {last});
  const auto node = static_cast<uint32_t>(step_.nodes.size());
  step_.nodes.push_back({Text("FunctionBackward"), function, 20.1, 137, 141});
  step_.nodes.push_back({Text("NegBackward"), next, 24.1, 133, 136});
  EXPECT_EQ(WithFrozen(query_).nodes[node].begin, kForever);
  EXPECT_EQ(WithFrozen(query_).nodes[node + 1].begin, kForever);
  EXPECT_EQ(WithFrozen(bias_).nodes[node + 1].begin, 133);
}

TEST_F(FreezeBackwardTest, WhatAnOperatorInPlaceCopiesForItsNodeIsNotCopiedWithoutIt) {
  const uint32_t copy = Add("", 20.5, 140);
  const uint32_t changing = AddOp("aten::hardswish_", kNone, kNone, {20, 22}, {query_}, {out_});
  step_.blocks[copy].op = AddOp("aten::clone", changing, kNone, {20.2, 21}, {query_}, {copy});
  step_.op_ends.insert(step_.op_ends.begin(), {step_.blocks[copy].op, changing});
  const auto node = static_cast<uint32_t>(step_.nodes.size());
  step_.nodes.push_back({Text("HardswishBackward"), changing, 20.1, 135, 141});
  step_.saved.push_back({copy, node, 140});
  EXPECT_EQ(WithFrozen(query_).blocks[copy].requested, 0u);
  EXPECT_EQ(WithFrozen(bias_).blocks[copy].requested, 512u);
  (*step_.own_texts)[step_.ops[changing].name - Step::kFirstOwnText] = "aten::hardswish";
  EXPECT_EQ(WithFrozen(query_).blocks[copy].requested, 512u) << "the result of somebody else's clone()";
}

// The gradient is a part of a block, or lies otherwise than its parameter.
TEST_F(FreezeBackwardTest, AGradientThatIsCopiedForAFrozenParameterIsNotComputed) {
  constexpr uint32_t kTakesUp = 8;  // the first AccumulateGrad
  ASSERT_EQ(step_.ops[kTakesUp].begin, 150);
  step_.blocks[of_query_].name = {}, step_.blocks[of_query_].accumulated = kForever;
  const uint32_t copy = Gradient("query", 150.5, 150.8);
  step_.blocks[copy].op = AddOp("aten::clone", kTakesUp, 1, {150.2, 150.9}, {of_query_}, {copy});
  SortEnds();
  const Step frozen = WithFrozen(query_);
  EXPECT_EQ(frozen.blocks[of_query_].requested, 0u);
  EXPECT_EQ(frozen.blocks[scratch_].requested, 0u) << "nor what it needs";
  EXPECT_EQ(frozen.blocks[copy].requested, 0u);
  EXPECT_EQ(WithFrozen(bias_).blocks[of_query_].requested, 512u);
  EXPECT_EQ(WithFrozen(bias_).blocks[copy].requested, 512u);
}

// BmmBackward0 transposes a factor for the gradient of the other one; another node works on that factor too.
TEST_F(FreezeBackwardTest, WhatANodeKeepsIsSeenInAnotherShapeForItsOwnOperatorsAlone) {
  const uint32_t factor = Add("", 6, 190), gradient = Gradient("query", 127.5, 154);
  const uint32_t view = AddOp("aten::transpose", 1, 0, {126, 126.5}, {factor}, {factor});
  step_.blocks[gradient].op = AddOp("aten::bmm", 1, 0, {127, 128}, {out_, factor}, {gradient});
  const auto other = static_cast<uint32_t>(step_.nodes.size());
  step_.nodes.push_back({Text("MulBackward"), kNone, kBefore, 140, 146});
  (void)AddOp("MulBackward", kNone, other, {141, 145}, {factor}, {});
  (void)AddOp("AccumulateGrad", kNone, 1, {154, 155}, {gradient}, {});
  SortEnds();
  EXPECT_EQ(WithFrozen(query_).ops[view].output_count, 0u);
  EXPECT_EQ(WithFrozen(bias_).ops[view].output_count, 1u);
  step_.ops[view].name = Text("aten::mul_");
  EXPECT_EQ(WithFrozen(query_).ops[view].output_count, 1u) << "that changes it, for the other node";
}

// Layers that the step called and whose gradients nothing asked for: a head that no loss is computed of.
TEST_F(FreezeBackwardTest, LayersThatGotNoGradientAreFrozenWithTheOthers) {
  const uint32_t table = Add("table", kBefore, kForever);
  step_.blocks[table].category = classify::Category::kParameter;
  const uint32_t result = Add("", 20.5, 142), last = Add("", 24.5, 160);
  const uint32_t layer = AddOp("aten::relu", kNone, kNone, {20, 22}, {table}, {result});
  step_.blocks[result].op = layer;
  (void)AddOp("aten::neg", kNone, kNone, {24, 26}, {result}, {last});
  const auto node = static_cast<uint32_t>(step_.nodes.size());
  step_.nodes.push_back({Text("ReluBackward"), layer, 20.1, 135, 141});
  step_.saved.push_back({result, node, 20.8, 140});
  SortEnds();
  const Step frozen = WithFrozen(table);
  EXPECT_EQ(frozen.nodes[node].begin, kForever);
  EXPECT_NEAR(frozen.blocks[result].end, 26, 0.01) << "its last use in forward";
  EXPECT_TRUE(frozen.saved.empty());
  EXPECT_EQ(WithFrozen(bias_).nodes[node].begin, 135);
  EXPECT_EQ(WithFrozen(bias_).blocks[result].end, 142);
}

// matmul(query * scale, ...) in attention, whose variable has the scaled queries when no node keeps them.
TEST_F(FreezeBackwardTest, WhatAttentionHasInAVariableIsThereUntilItReturns) {
  const uint32_t scaled = Add("", 20.5, 141), scores = Add("", 23.5, 30);
  const uint32_t attention =
      AddOp("aten::_scaled_dot_product_attention_math", kNone, kNone, {20, 32}, {query_}, {});
  const uint32_t scale = AddOp("aten::mul", attention, kNone, {20.2, 21}, {query_}, {scaled});
  const uint32_t product = AddOp("aten::matmul", attention, kNone, {23, 24}, {scaled}, {scores});
  step_.blocks[scaled].op = scale, step_.blocks[scores].op = product;
  const auto node = static_cast<uint32_t>(step_.nodes.size());
  step_.nodes.push_back({Text("BmmBackward"), product, 23.2, 135, 141});
  step_.nodes.push_back({Text("MulBackward"), scale, 20.3, 142, 146});
  step_.saved.push_back({scaled, node, 23.2, 141});
  SortEnds();
  EXPECT_NEAR(WithFrozen(query_).blocks[scaled].end, 32, 0.01);
  EXPECT_EQ(WithFrozen(bias_).blocks[scaled].end, 141);
}

// checkpoint(layer, given): the node inside keeps a place holder for what goes in forward, and that refers to
// what the checkpoint was given.
TEST_F(FreezeBackwardTest, WhatACheckpointOfTheProgramIsGivenGoesWithTheNodesInside) {
  const uint32_t table = Add("table", kBefore, kForever);
  step_.blocks[table].category = classify::Category::kParameter;
  const uint32_t given = Add("", 14.5, 141), made = Add("", 20.5, 26);
  step_.blocks[given].op = AddOp("aten::neg", kNone, kNone, {14, 16}, {table}, {given});
  const uint32_t layer = AddOp("aten::relu", kNone, kNone, {20, 22}, {table}, {made});
  step_.blocks[made].op = layer;
  const auto node = static_cast<uint32_t>(step_.nodes.size());
  step_.nodes.push_back({Text("ReluBackward"), layer, 20.1, 135, 141});
  step_.saved.push_back({given, kNone, 18});
  step_.saved.push_back({made, node, 20.8, 141});
  SortEnds();
  EXPECT_NEAR(WithFrozen(table).blocks[given].end, 16, 0.01);
  EXPECT_EQ(WithFrozen(bias_).blocks[given].end, 141);
  step_.modules.push_back({.begin = 131, .end = 134});
  step_.held.push_back({.block = given, .call = 0});
  EXPECT_NEAR(WithFrozen(table).blocks[given].end, 16, 0.01) << "what is called again is not";
  step_.blocks[made].end = 141;
  EXPECT_EQ(WithFrozen(table).blocks[given].end, 141) << "a node that holds the tensor is in no checkpoint";
}

// Whether the loss comes to it or not: autocast asks for that.
TEST_F(FreezeBackwardTest, AFrozenParameterRequiresNoGradient) {
  const auto requires_gradient = [&](uint32_t frozen) {
    const Step step = WithFrozen(frozen);
    return std::ranges::any_of(step.operands, [&](const Operand& operand) {
      return operand.block == bias_ && (operand.flags & trace::kTensorRequiresGrad) != 0;
    });
  };
  step_.blocks[bias_].category = classify::Category::kParameter;
  EXPECT_TRUE(requires_gradient(query_));
  EXPECT_FALSE(requires_gradient(bias_));
  step_.trained = {query_};
  EXPECT_FALSE(requires_gradient(bias_));
}

}  // namespace
}  // namespace vramscope::whatif
