// SPDX-License-Identifier: Apache-2.0
// The weights of a recurrent network that autograd saves; they share one block. Oracle: the copies that come
// back under save_on_cpu() when CudnnRnnBackward0 runs: each weight, and their block.
#include "profiler/whatif/step/saved_share.h"

#include <gtest/gtest.h>

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint8_t kBfloat16Type = 15, kFloatType = 6;  // c10::ScalarType
constexpr uint64_t kElements = 1024;

// One float32 block; an operator of forward saves a quarter of it.
class Weights : public testing::Test {
 protected:
  Weights() {
    step_.shapes.push_back({});
    step_.blocks.emplace_back().requested = kElements * sizeof(float);
    step_.trained.push_back(0);
    step_.own_texts =
        std::make_shared<std::deque<std::string>>(std::deque<std::string>{"work", "aten::ones_like"});
    Op& work = step_.ops.emplace_back();
    work.name = Step::kFirstOwnText;
    work.end = 20;
    step_.nodes.resize(2);
    step_.saved.push_back({0, 0, 15});
    step_.saved.back().share = 0.25;
    step_.shapes.push_back({0, 1, true});
    step_.dims.push_back(kElements / 4);
    quarter_.block = 0;
    quarter_.shape = 1;
    quarter_.dtype = kFloatType;
  }

  Step step_;
  Operand quarter_;
};

TEST_F(Weights, TensorsOfAListAreLetGoWithTheRestOfTheirNode) {
  step_.saved.push_back({0, 0, 16, 90});  // its own tensor: its release is recorded
  step_.saved.push_back({0, 1, 17});      // belongs to a graph that outlives the step
  ReleaseUnseen(step_);
  EXPECT_EQ(step_.saved[0].released, 90);
  EXPECT_EQ(step_.saved[1].released, 90);
  EXPECT_EQ(step_.saved[2].released, kForever);
}

// Node 0 ran from 60 to 100, node 1, an autograd.Function, from 110 to 120.
class OwnFunction : public Weights {
 protected:
  OwnFunction() {
    step_.backward.push_back({50, 200});
    step_.nodes[0].begin = 60, step_.nodes[0].end = 100;
    step_.nodes[1].begin = 110, step_.nodes[1].end = 120;
    step_.saved[0].node = 1;
  }
};

TEST_F(OwnFunction, LetsGoWithWhatItKept) {
  step_.blocks.emplace_back().end = 119;
  step_.saved.push_back({1, 1, 16});
  step_.saved.push_back({0, 0, 17, 90});
  ReleaseUnseen(step_);
  EXPECT_EQ(step_.saved[0].released, 119);
  EXPECT_EQ(step_.saved[1].released, 119);
}

TEST_F(OwnFunction, ThatKeptWhatOthersKeepLetsGoWhenItHasRun) {
  step_.saved.push_back({0, 0, 17, 90});
  ReleaseUnseen(step_);
  EXPECT_EQ(step_.saved[0].released, 120);
}

TEST_F(OwnFunction, KeepsItsTensorsWhereTheGraphIsKept) {
  ReleaseUnseen(step_);
  EXPECT_EQ(step_.saved[0].released, kForever);
}

// A pooled output that nobody reads. Its layer norm saves a hidden state that others save too, and a tensor
// that it created itself and that is freed when the function returns.
TEST_F(Weights, ANodeThatNeverRunsLetsGoWhenTheFirstOfItsBlocksGoes) {
  for (const Position end : {170, 31}) step_.blocks.emplace_back().end = end;
  for (const BlockIndex block : {1, 2}) step_.saved.push_back({block, 0, 16});
  step_.saved.push_back({1, 1, 17, 160});
  step_.nodes[1].begin = 150;
  ReleaseNeverRun(step_);
  for (const size_t saved : {0, 1, 2}) EXPECT_EQ(step_.saved[saved].released, 31);
  EXPECT_EQ(step_.saved[3].released, 160);
}

// torch.isfinite(x) computes x.abs(), which is never differentiated.
TEST_F(Weights, ANodeThatNeverRunsLetsGoWhenWhatItMadeGoes) {
  for (const bool differentiated : {false, true}) {
    Step step = step_;
    step.blocks[0].end = 170;
    step.blocks.emplace_back().end = 31;
    const auto call = [&](BlockIndex from, BlockIndex to) {
      Op& op = step.ops.emplace_back();
      op.first_input = static_cast<uint32_t>(step.operands.size()), op.input_count = op.output_count = 1;
      op.first_output = op.first_input + 1;
      for (const BlockIndex block : {from, to}) step.operands.emplace_back().block = block;
      return OpIndex(step.ops.size() - 1);
    };
    step.nodes[0].op = call(0, 1);
    const OpIndex behind = call(1, 2);
    step.blocks.emplace_back().end = 45;
    if (differentiated) step.nodes[1].op = behind;
    ReleaseNeverRun(step);
    EXPECT_EQ(step.saved[0].released, differentiated ? 45 : 31);
  }
}

TEST_F(Weights, ANodeThatRunsOrOutlivesTheStepIsNotTakenToLetGo) {
  step_.saved.push_back({0, 1, 16});
  step_.nodes[1].begin = 150;
  step_.blocks.emplace_back().end = 170;
  step_.saved.push_back({1, 1, 17});
  ReleaseNeverRun(step_);
  for (const Saved& saved : step_.saved) EXPECT_EQ(saved.released, kForever);
}

// A mask [64, 64] for each of 8 samples, as attention saves it.
TEST(SavedShareTest, AnExpandedViewHasAsManyElementsAsItShows) {
  Step step;
  step.shapes = {{}, {0, 3, true}, {3, 3, true}, {6, 3, true}};
  step.dims = {8, 64, 64, 0, 64, 1, 64 * 64, 64, 1};
  step.blocks.resize(1);
  step.blocks[0].requested = 64 * 64 * sizeof(float);
  step.ops.resize(1);
  step.ops[0].end = 20;
  step.nodes.resize(1);
  step.saved.push_back({0, 0, 15, 90, 1});
  Operand mask;
  mask.block = 0, mask.shape = 1, mask.strides = 2, mask.tensor = 1, mask.dtype = kFloatType;
  step.operands.push_back(mask);
  MeasureSaved(step);
  EXPECT_EQ(step.saved[0].share, 8);
}

// relu_() on a view, as recorded: CopySlices, the view's node, then what relu_ saves. In backward, the view's
// node runs first.
class InPlaceOnAView : public Weights {
 protected:
  InPlaceOnAView() {
    step_.own_texts->push_back("torch::autograd::CopySlices");
    for (Node& node : step_.nodes) node.op = 0;
    step_.nodes[0].name = Step::kFirstOwnText + 2;
    step_.nodes[1].begin = 60, step_.nodes[1].end = 100;
    step_.nodes[0].begin = 101, step_.nodes[0].end = 120;
    step_.saved[0].node = 1, step_.saved[0].released = 100;
  }
};

TEST_F(InPlaceOnAView, WhatItKeepsGoesWhenCopySlicesHasRun) {
  GiveToCopySlices(step_);
  EXPECT_EQ(step_.saved[0].node, 0u);
  EXPECT_EQ(step_.saved[0].released, 120);
}

// out[..., 1:].addcmul_(sin, x): AddcmulBackward0 saves sin, which all layers share. The node is then moved
// into CopySlices. Its release is not recorded.
TEST_F(InPlaceOnAView, WhatItIsGivenAndKeepsBeforeGoesThenToo) {
  std::swap(step_.nodes[0], step_.nodes[1]);
  step_.nodes[0].begin = step_.nodes[0].end = kForever;
  step_.backward = {{50, 200}};
  step_.saved[0].node = 0, step_.saved[0].released = kForever;
  step_.saved.resize(1);
  Saved seen;
  seen.block = step_.saved[0].block, seen.node = 2, seen.released = 130;
  step_.nodes.resize(3);
  step_.nodes[2].begin = 125, step_.nodes[2].end = 131;
  step_.saved.push_back(seen);
  GiveToCopySlices(step_);
  ReleaseUnseen(step_);
  EXPECT_EQ(step_.saved[0].node, 1u);
  EXPECT_EQ(step_.saved[0].released, 120);
  step_.saved[0].node = 0, step_.nodes[0].begin = 90;  // a node that runs keeps its own
  GiveToCopySlices(step_);
  EXPECT_EQ(step_.saved[0].node, 0u);
}

TEST_F(InPlaceOnAView, WhatWasNotLetGoStays) {
  step_.saved[0].released = kForever;
  GiveToCopySlices(step_);
  EXPECT_EQ(step_.saved[0].node, 0u);
  EXPECT_EQ(step_.saved[0].released, kForever);
}

TEST_F(InPlaceOnAView, ANodeOfAnotherOperatorKeepsItsOwn) {
  step_.nodes[0].op = {};
  GiveToCopySlices(step_);
  EXPECT_EQ(step_.saved[0].node, 1u);
  step_.nodes[0].op = 0, step_.nodes[0].name = Step::kFirstOwnText;  // not CopySlices
  GiveToCopySlices(step_);
  EXPECT_EQ(step_.saved[0].node, 1u);
}

}  // namespace
}  // namespace vramscope::whatif
