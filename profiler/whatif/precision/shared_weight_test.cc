// SPDX-License-Identifier: Apache-2.0
// A weight that is used twice, under autocast: a step put together by hand.
//
//   forward    linear ─ linear            both with the one copy of the weight that autocast keeps
//   backward   mm ─────── mm ─ add ─ AccumulateGrad
//              the node that converted the weight is given both gradients: they are added in 16 bits, and the
//              sum is converted behind the nodes of the first linear layer
#include <gtest/gtest.h>

#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/precision/versions.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint64_t kMatrixBytes = 64 * 64 * 4;

class SharedWeightTest : public testing::Test {
 protected:
  SharedWeightTest() {
    run_.streams.push_back(0);
    step_.run = &run_;
    step_.length = 300;
    step_.torch_version = "2.15.0";
    step_.own_texts = std::make_shared<std::deque<std::string>>();
    step_.shapes = {{}, {0, 2, true}, {2, 2, true}};
    step_.dims = {64, 64, 64, 1};
    step_.backward.push_back({100, 200});
    weight_ = Add(kBefore, kForever);
    step_.trained = {weight_};
    const uint32_t batch = Add(kBefore, kForever), hidden = Add(11, 160), out = Add(21, 130);
    const uint32_t seed = Add(105, 130);
    second_ = Add(113, 155), first_ = Add(143, 155), sum_ = Add(151, 299);
    step_.blocks[sum_].accumulated = 172;
    const uint32_t linear = AddOp("aten::linear", kNone, {10, 12}, {batch, weight_}, {hidden});
    const uint32_t again = AddOp("aten::linear", kNone, {20, 22}, {hidden, weight_}, {out});
    step_.nodes.push_back({Text("AddmmBackward0"), linear, 11.5, 140, 150});
    step_.nodes.push_back({Text("AddmmBackward0"), again, 21.5, 110, 120});
    step_.nodes.push_back({Text("AccumulateGrad"), kNone, kBefore, 170, 175});
    step_.nodes.push_back({Text("EmbeddingBackward0"), linear, 9.5, 180, 185});
    (void)AddOp("AddmmBackward0", 1, {111, 119}, {seed}, {});
    step_.blocks[second_].op = AddOp("aten::mm", 1, {112, 114}, {seed, seed}, {second_}, 2);
    (void)AddOp("AddmmBackward0", 0, {141, 149}, {seed}, {});
    step_.blocks[first_].op = AddOp("aten::mm", 0, {142, 144}, {seed, seed}, {first_}, 4);
    step_.blocks[sum_].op = AddOp("aten::add", 0, {150, 152}, {second_, first_}, {sum_});
    (void)AddOp("AccumulateGrad", 2, {171, 174}, {sum_}, {});
    step_.blocks[hidden].op = linear, step_.blocks[out].op = again;
    step_.op_ends = {0, 1, 3, 2, 5, 4, 6, 7};
  }

  // As of a gradient that lies in another order than the weight.
  uint32_t TakeACopy() {
    const uint32_t copy = Add(172, 299);
    std::swap(step_.blocks[sum_].accumulated, step_.blocks[copy].accumulated);
    step_.blocks[sum_].end = 176;
    step_.blocks[copy].op = AddOp("aten::new_empty_strided", 2, {171.5, 173}, {sum_}, {copy}, 7);
    step_.op_ends.insert(step_.op_ends.end() - 1, step_.blocks[copy].op);
    return copy;
  }

  // Float copies of a block that a conversion puts in.
  [[nodiscard]] static std::vector<StepBlock> CopiesOf(const Step& changed, uint32_t block) {
    std::vector<StepBlock> copies;
    for (const StepBlock& one : changed.blocks)
      if (one.copy_of == block && one.requested == kMatrixBytes) copies.push_back(one);
    return copies;
  }

  uint32_t weight_ = 0, second_ = 0, first_ = 0, sum_ = 0;
  model::Run run_;
  Step step_;

 private:
  uint32_t Text(const std::string& text) {
    step_.own_texts->push_back(text);
    return Step::kFirstOwnText + static_cast<uint32_t>(step_.own_texts->size() - 1);
  }
  uint32_t Add(Position begin, Position end) {
    StepBlock block;
    block.requested = kMatrixBytes;
    block.begin = begin;
    block.end = end;
    step_.blocks.push_back(block);
    return static_cast<uint32_t>(step_.blocks.size() - 1);
  }
  uint32_t AddOp(const std::string& name, uint32_t node, Window window, const std::vector<uint32_t>& inputs,
                 const std::vector<uint32_t>& outputs, uint32_t parent = kNone) {
    Op op;
    op.name =
        node != kNone && name == step_.Text(step_.nodes[node].name) ? step_.nodes[node].name : Text(name);
    op.node = node;
    op.parent = parent;
    op.begin = window.begin;
    op.end = window.end;
    op.first_input = static_cast<uint32_t>(step_.operands.size());
    op.input_count = static_cast<uint32_t>(inputs.size());
    for (const uint32_t block : inputs) AddOperand(block, 0);
    op.first_output = static_cast<uint32_t>(step_.operands.size());
    op.output_count = static_cast<uint32_t>(outputs.size());
    for (const uint32_t block : outputs) AddOperand(block, trace::kTensorIsOutput);
    step_.ops.push_back(op);
    return static_cast<uint32_t>(step_.ops.size() - 1);
  }
  void AddOperand(uint32_t block, uint64_t flags) {
    Operand operand;
    operand.op = static_cast<uint32_t>(step_.ops.size());
    operand.block = block;
    operand.shape = 1;
    operand.strides = 2;
    operand.dtype = kFloatType;
    operand.flags = static_cast<uint8_t>(flags);
    step_.operands.push_back(operand);
  }
};

TEST_F(SharedWeightTest, TheSumOfItsGradientsIsConvertedOnce) {
  const Step changed = UnderAutocast(step_, kBfloat16Type);
  for (const uint32_t low : {second_, first_, sum_})
    EXPECT_EQ(changed.blocks[low].requested, kMatrixBytes / 2);
  EXPECT_TRUE(CopiesOf(changed, second_).empty());
  EXPECT_TRUE(CopiesOf(changed, first_).empty());
  const std::vector<StepBlock> copies = CopiesOf(changed, sum_);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_GT(copies[0].begin, 170) << "behind the nodes of the linear layer that was used first";
  EXPECT_LT(changed.blocks[sum_].end, 200) << "the sum in 16 bits goes with that";
}

TEST_F(SharedWeightTest, WhatAccumulateGradCopiesHasBeenConverted) {
  const uint32_t copy = TakeACopy();
  const Step changed = UnderAutocast(step_, kBfloat16Type);
  EXPECT_EQ(changed.blocks[copy].requested, kMatrixBytes) << "in the type of the weight";
  EXPECT_EQ(changed.blocks[sum_].requested, kMatrixBytes / 2);
  const std::vector<StepBlock> converted = CopiesOf(changed, sum_);
  ASSERT_EQ(converted.size(), 1u);
  EXPECT_LT(converted[0].begin, changed.blocks[copy].begin);
  EXPECT_LT(converted[0].end, 200) << "gone with the node";
}

// g + a, and that + b, where only nodes that want 16 bits have g and the sum beside: both are added to g.
TEST(AliasTest, WhatStandsForASumStaysItWhenItWasConverted) {
  model::Run run;
  run.streams.push_back(0);
  Step step;
  step.run = &run;
  step.length = 300;
  step.shapes = {{}, {0, 2, true}, {2, 2, true}};
  step.dims = {64, 64, 64, 1};
  step.backward.push_back({100, 200});
  for (const Position begin : {110.0, 120.0, 130.0}) {
    StepBlock& block = step.blocks.emplace_back();
    block.requested = kMatrixBytes;
    block.begin = begin, block.end = begin + 15;
  }
  Operand sum;
  sum.block = 1, sum.shape = 1, sum.strides = 2, sum.dtype = kFloatType;
  Versions versions(step, kFloatType);
  versions.Alias(1, 0);
  versions.Cast(1, kBfloat16Type, 122, kNone, sum);
  versions.Cast(1, kFloatType, 124, kNone, sum);
  versions.Used(1, 128);
  versions.Alias(2, 1);
  const Step changed = std::move(versions).Finish({});
  EXPECT_EQ(changed.blocks[0].end, 145);
  EXPECT_LT(changed.blocks[3].end, 125) << "the copy goes with its last use";
  EXPECT_EQ(changed.blocks[1].requested, 0u);
  EXPECT_EQ(changed.blocks[2].requested, 0u);
}

// ConvNeXt's gradients of a residual branch, which LoRA's layer and its base have added up: in 16 bits the
// branch has a copy, and what stands for the sum goes with its last node.
TEST(AliasTest, WhatStandsForASumGoesBeforeACopyThatIsUsedLater) {
  Step step;
  step.length = 300;
  step.shapes = {{}, {0, 2, true}};
  step.dims = {64, 64};
  step.backward.push_back({100, 200});
  for (const Position begin : {110.0, 120.0}) {
    StepBlock& block = step.blocks.emplace_back();
    block.requested = kMatrixBytes;
    block.begin = begin, block.end = begin + 50;
  }
  Operand sum;
  sum.block = 1, sum.shape = 1, sum.dtype = kFloatType;
  Versions versions(step, kFloatType);
  versions.Alias(1, 0);
  versions.Used(1, 130);
  versions.Cast(1, kBfloat16Type, 125, kNone, sum);
  versions.Used(1, 168);
  const Step changed = std::move(versions).Finish({});
  EXPECT_LT(changed.blocks[0].end, 131);
  EXPECT_EQ(changed.blocks[2].end, 170);
}

// The gradient of a permuted input is a view, which keeps what it is a view of.
TEST(AddedInPlaceTest, NotAViewOfWhatWasConverted) {
  Step step;
  step.shapes.push_back({});
  step.own_texts = std::make_shared<std::deque<std::string>>(1, "PermuteBackward0");
  StepBlock& block = step.blocks.emplace_back();
  block.begin = 110, block.end = 150;
  Op& permute = step.ops.emplace_back();
  permute.name = Step::kFirstOwnText;
  permute.begin = 120, permute.end = 122, permute.output_count = 1;
  Operand& view = step.operands.emplace_back();
  view.block = 0, view.op = 0, view.tensor = 7;
  view.flags = trace::kTensorIsOutput | trace::kTensorIsView;
  const std::vector<CastRule> rules = {CastRule::kAsGiven};
  const GradientMoments moments(step, rules);
  EXPECT_TRUE(moments.IsShared(view, 115, 140));
  EXPECT_FALSE(moments.IsShared(view, 125, 140)) << "converted behind it: a tensor of its own";
  view.flags = trace::kTensorIsOutput;
  EXPECT_FALSE(moments.IsShared(view, 115, 140));
  step.blocks[0].accumulated = 130;
  EXPECT_TRUE(moments.IsShared(view, 125, 140)) << "the gradient of a parameter";
}

}  // namespace
}  // namespace vramscope::whatif
