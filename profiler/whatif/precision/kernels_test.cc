// SPDX-License-Identifier: Apache-2.0
// What cuDNN and flash attention take to work with in 16 bits. The oracle of the first is what PyTorch asked
// for in the backward of a U-Net's last convolution, [8, 24, 48, 48] to three channels: 2,064,768 bytes in
// float32 and 1,180,032 in bfloat16.
#include <gtest/gtest.h>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/step/radix_sort.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

// What backward of a convolution takes beside its results in bfloat16. `strides`: of its input.
struct Convolution {
  const char *gradient, *gradient_strides, *input, *strides, *weight, *weight_strides;
};

uint64_t LowWorkspace(const Convolution& convolution, uint64_t recorded) {
  constexpr uint32_t kGradient = 0, kInput = 1, kWeight = 2, kResult = 3, kWorkspace = 4;
  Step step;
  step.shapes.push_back({});
  step.own_texts = std::make_shared<std::deque<std::string>>(1, "aten::convolution_backward");
  step.blocks.resize(5);
  step.blocks[kWorkspace].op = 0;
  step.blocks[kWorkspace].requested = recorded;
  Op& op = step.ops.emplace_back();
  op.name = Step::kFirstOwnText;
  op.input_count = 3;
  op.first_output = 3;
  op.output_count = 1;
  const auto shaped = [&](const char* text) {
    step.shapes.push_back(ParseShape(text, step.dims));
    return static_cast<uint32_t>(step.shapes.size()) - 1;
  };
  const auto add = [&](uint32_t block, uint16_t argument, const char* shape, const char* strides) {
    Operand& operand = step.operands.emplace_back();
    operand.block = block, operand.argument = argument, operand.dtype = kFloat;
    operand.shape = shaped(shape), operand.strides = shaped(strides);
  };
  add(kGradient, 0, convolution.gradient, convolution.gradient_strides);
  add(kInput, 1, convolution.input, convolution.strides);
  add(kWeight, 2, convolution.weight, convolution.weight_strides);
  add(kResult, 0, convolution.input, convolution.strides);
  Step changed = step;
  ChangeKernels(step, {true, true, true, true, false}, changed);
  return changed.blocks[kWorkspace].requested;
}

TEST(PrecisionKernelsTest, BackwardOfAConvolutionFillsChannelsUpToVectors) {
  EXPECT_EQ(
      LowWorkspace({"8,3,48,48", "6912,2304,48,1", "8,24,48,48", "55296,2304,48,1", "3,24,1,1", "24,1,1,1"},
                   2'064'768),
      1'180'032u);
}

// As PyTorch asked for on an A100 for a convolution of 64 channels over samples, whose input was transposed
// for a norm before: nothing lies channels last for cuDNN, though the strides of the input say so.
TEST(PrecisionKernelsTest, BackwardOfAConvolutionInOneDimensionConvertsEverything) {
  EXPECT_EQ(LowWorkspace({"8,64,49", "3136,1,64", "8,64,99", "6336,1,64", "64,64,2", "128,2,1"}, 335'872),
            167'936u);
}

// CLIPSeg's image from [16, 64, 8, 8], whose weight counts the channels that go in first: the gradient of
// what goes in is a convolution, which in float32 converts what it is given and the weight alone.
TEST(PrecisionKernelsTest, BackwardOfATransposedConvolutionConvertsAllThatAConvolutionDoes) {
  const Convolution transposed = {"16,1,128,128",  "16384,16384,128,1", "16,64,8,8",
                                  "4096,1,512,64", "64,1,16,16",        "256,256,16,1"};
  for (const uint64_t recorded : {4'194'304u + 262'144u, 4'194'304u + 262'144u + 262'144u})
    EXPECT_EQ(LowWorkspace(transposed, recorded), 4'194'304u + 262'144u + 131'072u);
}

// What PyTorch asked for in the first convolution of PE Audio's encoder where it was built without cuDNN:
// seven rows of 3200 in each type, and the same work space of cuBLAS.
TEST(PrecisionKernelsTest, ColumnsHaveTheTypeOfTheirInput) {
  Step step;
  step.shapes.push_back({});
  step.own_texts = std::make_shared<std::deque<std::string>>(1, "aten::_slow_conv2d_forward");
  step.blocks.resize(3);
  for (StepBlock& block : step.blocks) block.op = 0, block.requested = 89'600;
  step.blocks[2].category = classify::Category::kWorkspace;
  step.ops.push_back({.name = Step::kFirstOwnText, .output_count = 1});
  step.operands.push_back({});
  step.operands[0].block = 0, step.operands[0].dtype = kFloat;
  Step changed = step;
  ChangeKernels(step, {true, false, false}, changed);
  EXPECT_EQ(changed.blocks[1].requested, 44'800u);
  EXPECT_EQ(changed.blocks[2].requested, 89'600u);
  changed = step;
  ChangeKernels(step, {false, false, false}, changed);
  EXPECT_EQ(changed.blocks[1].requested, 89'600u) << "in float32";
}

// As PyTorch asked for in float32 to sort what is worst of eight pictures; values and indices beside it.
TEST(PrecisionKernelsTest, ShortKeysAreSortedInManySweeps) {
  Step step;
  step.own_texts = std::make_shared<std::deque<std::string>>(1, "aten::sort");
  step.blocks.resize(4);
  for (StepBlock& block : step.blocks) block.op = 0;
  step.blocks[2].requested = 73'728 * 8;
  step.blocks[3].requested = OneSweepSortBytes(73'728);
  step.shapes = {{}, ParseShape("73728", step.dims)};
  step.ops.push_back({.name = Step::kFirstOwnText, .output_count = 2});
  for (const uint32_t block : {0u, 1u}) {
    Operand& result = step.operands.emplace_back();
    result.block = block, result.shape = 1;
  }
  Step changed = step;
  ChangeKernels(step, {true, false, false, false}, changed);
  EXPECT_EQ(changed.blocks[2].requested, 73'728u * 8) << "indices";
  EXPECT_EQ(changed.blocks[3].requested, ManySweepSortBytes(73'728, 108));
  changed = step;
  ChangeKernels(step, {false, false, false, false}, changed);
  EXPECT_EQ(changed.blocks[3].requested, OneSweepSortBytes(73'728)) << "in float32";
}

// Of the four results of attention on the device, only flash attention has the last two there with dropout.
class FlashAttentionTest : public testing::Test {
 protected:
  static constexpr uint32_t kQuery = 0, kOutput = 1, kSums = 2, kSeed = 3, kOffset = 4;
  static constexpr Position kMade = 12, kReturned = 19;

  Step Changed(bool seeds_on_device) {
    Step step;
    step.own_texts = std::make_shared<std::deque<std::string>>(1, "aten::_efficient_attention_forward");
    for (const Position begin : {1.0, 11.0, kMade, 10.0, 10.5}) {
      StepBlock& block = step.blocks.emplace_back();
      block.begin = begin, block.end = 100;
    }
    step.shapes = {{}, ParseShape("4,64,2,32", step.dims)};
    Op& op = step.ops.emplace_back();
    op.name = Step::kFirstOwnText;
    op.begin = 9, op.end = kReturned;
    op.input_count = 1;
    op.first_output = 1, op.output_count = 4;
    for (const uint32_t block : {kQuery, kOutput, kSums, kSeed, kOffset}) {
      Operand& operand = step.operands.emplace_back();
      operand.block = block >= kSeed && !seeds_on_device ? model::kNone : block;
      operand.argument = static_cast<uint16_t>(block == kQuery ? 0 : block - 1);
      operand.shape = 1;
    }
    step.saved.push_back({kSums, 0, kReturned, 100});
    Step changed = step;
    ChangeKernels(step, {true, true, false, false, false}, changed);
    return changed;
  }
};

TEST_F(FlashAttentionTest, AsksForWhatItDrawsFromBehindItsSums) {
  const Step changed = Changed(true);
  EXPECT_EQ(changed.blocks.size(), 5u);
  EXPECT_GT(changed.blocks[kOffset].begin, kMade);
  EXPECT_GT(changed.blocks[kSeed].begin, changed.blocks[kOffset].begin);
}

TEST_F(FlashAttentionTest, KeepsTwoBlocksAndGivesUpOneWithDropout) {
  const Step changed = Changed(false);
  ASSERT_EQ(changed.blocks.size(), 8u);
  EXPECT_LT(changed.blocks[5].end, kReturned);
  for (const uint32_t kept : {6, 7}) {
    EXPECT_GE(changed.blocks[kept].end, 100);
    EXPECT_EQ(changed.blocks[kept].last_use, kReturned);
    EXPECT_EQ(changed.saved[kept - 5].block, kept);
  }
}

// [16, 64, 32, 32] in one group, as PyTorch asked on an A100: 32 bytes each of means and deviations that are
// returned, and 64 of those that it computes.
TEST(PrecisionKernelsTest, GroupNormComputesItsStatisticsBesideThoseThatAreLow) {
  Step step;
  step.own_texts = std::make_shared<std::deque<std::string>>(1, "aten::native_group_norm");
  Op& op = step.ops.emplace_back();
  op.name = Step::kFirstOwnText, op.begin = 10, op.end = 30, op.output_count = 3;
  for (const uint16_t result : {0, 1, 2}) {
    Operand& operand = step.operands.emplace_back();
    operand.block = operand.argument = result, operand.dtype = kFloat;
    StepBlock& block = step.blocks.emplace_back();
    block.requested = result == 0 ? 4'194'304 : 64;
    block.begin = 12 + result, block.end = 100;
  }
  Step changed = step;
  ChangeKernels(step, {true, true, true}, changed);
  ASSERT_EQ(changed.blocks.size(), 5u);
  for (const uint32_t made : {3, 4}) {
    EXPECT_EQ(changed.blocks[made].requested, 64u);
    EXPECT_GT(changed.blocks[made].begin, 14);
    EXPECT_LT(changed.blocks[made].end, 30);
  }
  EXPECT_GT(changed.blocks[3].end, changed.blocks[4].end) << "the last one goes first";
  Step mixed = step;
  ChangeKernels(step, {true, false, false}, mixed);
  EXPECT_EQ(mixed.blocks.size(), 3u) << "weights in float32: what is returned is float32 too";
}

// DiffLlama's gradient of attention is a part of a longer row.
TEST(PrecisionKernelsTest, FlashAttentionCopiesAGradientWithGaps) {
  const auto made = [](const char* strides) {
    Step step;
    step.shapes = {{}, ParseShape("8,256,4,64", step.dims), ParseShape(strides, step.dims)};
    step.own_texts = std::make_shared<std::deque<std::string>>(1, "aten::_efficient_attention_backward");
    step.nodes.emplace_back();
    Op& op = step.ops.emplace_back();
    op.name = Step::kFirstOwnText, op.node = 0;
    op.begin = 10, op.end = 90, op.input_count = 4;
    op.first_output = 4, op.output_count = 1;
    for (const uint16_t argument : {0, 1, 2, 3, 4}) {
      Operand& operand = step.operands.emplace_back();
      operand.block = argument, operand.argument = argument % 4, operand.shape = 1, operand.dtype = kFloat;
      if (argument == 0) operand.strides = 2;
      step.blocks.emplace_back().begin = 1;
    }
    Step changed = step;
    ChangeKernels(step, std::vector<bool>(5, true), changed);
    return changed;
  };
  const Step dense = made("65536,256,64,1"), gaps = made("131072,512,128,1");
  ASSERT_EQ(gaps.blocks.size(), dense.blocks.size() + 1);
  EXPECT_EQ(gaps.blocks[5].requested, 8u * 256 * 4 * 64 * 2);
  EXPECT_LT(gaps.blocks[5].begin, gaps.blocks[6].begin);
}

// As PyTorch asked for on an A100 of 8 samples, 256 rows and 4 heads of 96 elements that share their keys and
// values, with a mask: in float32 the product of gradient and result and its sums twice, in bfloat16 the
// sums.
TEST(PrecisionKernelsTest, EfficientAttentionMultipliesAndSumsInItsKernel) {
  Step step;
  step.shapes = {{}, ParseShape("8,256,4,96", step.dims), ParseShape("8,256,1,96", step.dims)};
  step.own_texts = std::make_shared<std::deque<std::string>>(1, "aten::_efficient_attention_backward");
  step.nodes.emplace_back();
  Op& op = step.ops.emplace_back();
  op.name = Step::kFirstOwnText;
  op.node = 0;
  op.begin = 10, op.end = 90;
  const auto add = [&](uint16_t argument, uint32_t shape, Position begin, uint64_t bytes) {
    Operand& operand = step.operands.emplace_back();
    operand.block = static_cast<uint32_t>(step.blocks.size());
    operand.argument = argument, operand.shape = shape, operand.dtype = kFloat;
    StepBlock& block = step.blocks.emplace_back();
    block.requested = bytes;
    block.begin = begin, block.end = 100;
  };
  for (const uint16_t argument : {0, 1, 2, 3, 4})
    add(argument, argument == 2 || argument == 3 ? 2 : 1, 1, 512);
  op.input_count = 5;
  op.first_output = 5, op.output_count = 1;
  add(0, 1, 11, 512);
  const size_t inside = step.blocks.size();
  for (const uint64_t bytes : {3'145'728u, 3'145'728u, 3'145'728u, 32'768u, 32'768u, 4'196'352u}) {
    StepBlock& block = step.blocks.emplace_back();
    block.requested = bytes;
    block.op = 0;
    block.begin = 20, block.end = 80;
  }
  Step changed = step;
  ChangeKernels(step, std::vector<bool>(step.blocks.size(), true), changed);
  for (size_t i = inside; i < step.blocks.size(); ++i) EXPECT_EQ(changed.blocks[i].requested, 0u);
  std::vector<uint64_t> made;
  for (size_t i = step.blocks.size(); i < changed.blocks.size(); ++i)
    made.push_back(changed.blocks[i].requested);
  EXPECT_EQ(made, (std::vector<uint64_t>{1'572'864, 1'572'864, 32'768, 4'195'328}));
  // SAM's attention in timm, whose samples are heads: what lies head by head is copied here too.
  step.shapes.push_back(ParseShape("98304,96,24576,1", step.dims));
  step.operands[0].strides = 3;
  Step copied = step;
  ChangeKernels(step, std::vector<bool>(step.blocks.size(), true), copied);
  ASSERT_EQ(copied.blocks.size(), changed.blocks.size() + 1);
  EXPECT_EQ(copied.blocks[step.blocks.size()].requested, 1'572'864u);
}

}  // namespace
}  // namespace vramscope::whatif
