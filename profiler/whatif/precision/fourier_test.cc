// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of 16 bits under autocast, in steps put together by hand, as
// aten/src/ATen/native/cuda/SpectralOps.cpp computes them.
#include "profiler/whatif/precision/fourier.h"

#include <gtest/gtest.h>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using Sizes = std::vector<int64_t>;

// x = linear(...), in 16 bits; rfft(x), for whose node autograd keeps x here.
class PrecisionFourierTest : public testing::Test, protected WrittenOperators {
 protected:
  static constexpr Position kBegin = 20, kEnd = 26, kFreed = 90;
  static constexpr uint64_t kOfX = 2 * 128 * 4, kOfResult = 2 * 65 * 8;

  void Transform(const Sizes& sizes, const Sizes& result) {
    const uint32_t weight = AddBlock(kBefore, kForever);
    step_.trained = {weight};
    x_ = AddBlock(6, 190), result_ = AddBlock(22, kFreed);
    step_.blocks[x_].requested = kOfX, step_.blocks[result_].requested = kOfResult;
    AddOp("aten::linear", kNone, {5, 7}, {weight}, x_);
    const uint32_t op = AddOp("aten::_fft_r2c", kNone, {kBegin, kEnd}, {x_}, result_);
    Shown(step_.operands[step_.ops[op].first_input], sizes);
    Operand& made = step_.operands[step_.ops[op].first_output];
    Shown(made, result), made.dtype = kComplexType;
    AddOp("aten::abs", kNone, {40, 42}, {result_}, AddBlock(41, kFreed));
    step_.operands[step_.ops.back().first_input].dtype = kComplexType;
    node_ = AddNode("FftR2CBackward0", op, 130);
    step_.saved.push_back({x_, node_, 21, 131});
    changed_ = UnderAutocast(step_, kBfloat16Type);
  }
  void Shown(Operand& operand, const Sizes& sizes) {
    operand.shape = static_cast<uint32_t>(step_.shapes.size());
    step_.shapes.push_back(
        {static_cast<uint32_t>(step_.dims.size()), static_cast<uint32_t>(sizes.size()), true});
    step_.dims.insert(step_.dims.end(), sizes.begin(), sizes.end());
  }
  [[nodiscard]] std::vector<StepBlock> CopiesOf(uint32_t block) const {
    std::vector<StepBlock> copies;
    for (const StepBlock& one : changed_.blocks)
      if (one.copy_of == block) copies.push_back(one);
    return copies;
  }

  uint32_t x_ = 0, result_ = 0, node_ = 0;
  whatif::Step changed_;
};

TEST_F(PrecisionFourierTest, AnyOtherLengthIsConvertedByTheTransformItself) {
  Transform({2, 34}, {2, 18});
  const std::vector<StepBlock> copies = CopiesOf(x_);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].requested, 2u * 34 * 4);
  EXPECT_GT(copies[0].begin, kBegin);
  EXPECT_LT(copies[0].begin, 22) << "before the result";
  EXPECT_NEAR(copies[0].end, kEnd, 0.01);
  EXPECT_EQ(changed_.blocks[result_].requested, kOfResult);
  EXPECT_TRUE(CopiesOf(result_).empty());
}

TEST_F(PrecisionFourierTest, WhatAutogradKeepsOfAnyOtherLengthHasSixteenBits) {
  Transform({2, 34}, {2, 18});
  EXPECT_EQ(changed_.saved[0].block, x_);
  EXPECT_EQ(changed_.blocks[x_].requested, kOfX / 2);
  EXPECT_GT(changed_.blocks[x_].end, 130);
}

TEST_F(PrecisionFourierTest, APowerOfTwoIsTransformedInSixteenBitsAndItsResultConverted) {
  Transform({2, 128}, {2, 65});
  EXPECT_TRUE(CopiesOf(x_).empty());
  const StepBlock& low = changed_.blocks[result_];
  EXPECT_EQ(low.requested, kOfResult / 2);
  const std::vector<StepBlock> copies = CopiesOf(result_);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].requested, kOfResult);
  EXPECT_GT(copies[0].begin, kBegin);
  EXPECT_LT(copies[0].begin, kEnd);
  EXPECT_GT(low.end, copies[0].begin);
  EXPECT_LT(low.end, kEnd) << "it does not outlive the transform";
  EXPECT_EQ(copies[0].end, kFreed);
}

TEST_F(PrecisionFourierTest, OtherDimensionsMayHaveAnyLength) {
  Transform({3, 64}, {3, 33});
  EXPECT_TRUE(CopiesOf(x_).empty());
  EXPECT_EQ(CopiesOf(result_).size(), 1u);
}

// fft(fft(x, dim=-1), dim=-2).real + x
TEST_F(PrecisionFourierTest, WhatComesOfItIsInFloat32) {
  const uint32_t both = AddBlock(51, kFreed), sum = AddBlock(61, kFreed);
  Transform({2, 34}, {2, 18});
  const uint32_t second = AddOp("aten::_fft_c2c", kNone, {50, 52}, {result_}, both);
  for (const uint32_t i : {step_.ops[second].first_input, step_.ops[second].first_output})
    step_.operands[i].dtype = kComplexType;
  AddOp("aten::add", kNone, {60, 62}, {both, x_}, sum);
  changed_ = UnderAutocast(step_, kBfloat16Type);
  EXPECT_EQ(changed_.blocks[both].requested, 512u);
  EXPECT_EQ(changed_.blocks[sum].requested, 512u);
}

}  // namespace
}  // namespace vramscope::whatif
