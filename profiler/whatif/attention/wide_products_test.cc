// SPDX-License-Identifier: Apache-2.0
// Attention as products in 16 bits, in steps put together by hand as PyTorch 2.15 records them in float32.
#include "profiler/whatif/attention/wide_products.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint64_t kWide = 512, kLow = 256;

// What keeps kernels away.
enum class By { kNothing, kGaps, kWindows, kSamples, kMask };

// Query, key, value and mask of linear layers, from 20 to 40 attention, then something that takes its result.
class WideProductsTest : public testing::Test, protected WrittenOperators {
 protected:
  // `joined`: query, key and value are parts of one projection.
  void Attend(
      By by, bool joined = false, const std::function<void()>& more = [] {}) {
    const uint32_t weight = AddBlock(kBefore, kForever);
    step_.trained = {weight};
    Position at = 2;
    for (uint32_t& given : given_) {
      given = AddBlock(at + 1, 60);
      AddOp("aten::linear", kNone, {at, at + 2}, {weight}, given);
      at += 3;
    }
    if (joined) given_[1] = given_[2] = given_[0];
    scores_ = AddBlock(25, 41), result_ = AddBlock(30, 60);
    const uint32_t scaled = AddBlock(23, 27);
    const std::vector<uint32_t> given(given_, given_ + (by == By::kMask ? 4 : 3));
    products_ = AddOp("aten::_scaled_dot_product_attention_math", kNone, {20, 40}, given, result_);
    for (uint16_t i = 0; i < given.size(); ++i) {
      Operand& operand = step_.operands[step_.ops[products_].first_input + i];
      operand.argument = i;
      const int64_t samples = by == By::kSamples && i == 0 ? 1 : 2;
      operand.shape = by == By::kWindows ? Shaped({2, 2, 2, 2, 8}) : Shaped({samples, 2, 4, 8});
      operand.strides = by == By::kWindows ? Shaped({64, 32, 16, 8, 1})
                                           : Shaped({64, 32, 8, i == 2 && by == By::kGaps ? 2 : 1});
    }
    Inside("aten::mul", 22, {given_[0]}, scaled);
    Inside("aten::bmm", 24, {scaled, given_[1]}, scores_);
    Inside("aten::to", 27, {scores_}, scores_);
    Inside("aten::bmm", 29, {scores_, given_[2]}, result_);
    Inside("aten::to", 33, {result_}, result_);
    AddOp("aten::relu", kNone, {45, 47}, {result_}, AddBlock(46, 90));
    more();
    for (Op& op : step_.ops) op.dtype = Text("");  // none is asked for
    changed_ = AllInLow(step_, kBfloat16Type);
  }
  void Inside(const char* name, Position at, const std::vector<uint32_t>& from, uint32_t to) {
    inner_.push_back(AddOp(name, kNone, {at, at + 2}, from, to));
    step_.ops[inner_.back()].parent = products_;
  }
  [[nodiscard]] std::vector<StepBlock> CopiesOf(uint32_t block) const {
    std::vector<StepBlock> copies;
    for (const StepBlock& one : changed_.blocks)
      if (one.copy_of == block) copies.push_back(one);
    return copies;
  }

  uint32_t given_[4] = {}, scores_ = 0, result_ = 0, products_ = 0, of_value_ = 0, of_key_ = 0;
  std::vector<uint32_t> inner_;  // operators: mul, bmm, to, bmm, to
  Step changed_;
};

TEST_F(WideProductsTest, WhatNoKernelTakesIsConvertedToFloatAndMultiplied) {
  Attend(By::kMask);
  EXPECT_TRUE(StaysProducts(step_, step_.ops[products_]));
  for (int i = 0; i < 3; ++i) {
    const std::vector<StepBlock> copies = CopiesOf(given_[i]);
    ASSERT_EQ(copies.size(), 1u);
    EXPECT_EQ(copies[0].requested, kWide);
    EXPECT_NEAR(copies[0].begin, 20, 0.5);
    EXPECT_NEAR(copies[0].end, 40, 0.1);
    EXPECT_EQ(changed_.blocks[given_[i]].requested, kLow);
  }
  EXPECT_TRUE(CopiesOf(given_[3]).empty()) << "the mask is added as it is";
  EXPECT_EQ(changed_.blocks[scores_].requested, kWide);
}

TEST_F(WideProductsTest, WhatItHandsOutIsConvertedBack) {
  Attend(By::kGaps);
  EXPECT_EQ(changed_.blocks[result_].requested, kWide);
  const std::vector<StepBlock> results = CopiesOf(result_), scores = CopiesOf(scores_);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].requested, kLow);
  EXPECT_NEAR(results[0].begin, 33, 0.1);
  EXPECT_GT(results[0].end, 45) << "it goes on";
  ASSERT_EQ(scores.size(), 1u);
  EXPECT_EQ(scores[0].requested, kLow);
  EXPECT_EQ(scores[0].end, 41) << "with the call, which hands it out";
}

TEST_F(WideProductsTest, PartsOfOneProjectionAreConvertedEachForItself) {
  Attend(By::kGaps, true);
  const std::vector<StepBlock> copies = CopiesOf(given_[0]);
  ASSERT_EQ(copies.size(), 3u);
  for (const StepBlock& copy : copies) EXPECT_NEAR(copy.end, 40, 0.1) << "when the function returns";
  EXPECT_EQ(changed_.blocks[given_[0]].requested, kLow);
}

TEST_F(WideProductsTest, WhatIsConvertedBackGoesAtOnce) {
  Attend(By::kGaps);
  EXPECT_NEAR(changed_.blocks[result_].end, 33, 0.1) << "variables hold what is handed out";
}

// Backward of the second product, then of the first one; what they hand out, the layers take behind both.
TEST_F(WideProductsTest, GradientsAreConvertedBehindAllNodes) {
  const auto nodes = [&] {
    const uint32_t value = AddNode("BmmBackward0", inner_[3], 100);
    const uint32_t of_value = AddBlock(101, 131), of_key = AddBlock(111, 131);
    AddOp("aten::bmm", value, {100.5, 102}, {scores_}, of_value);
    AddOp("aten::bmm", AddNode("BmmBackward0", inner_[1], 110), {110.5, 112}, {scores_}, of_key);
    uint32_t layer = 0;
    for (const uint32_t gradient : {of_key, of_value}) {
      const uint32_t taken = AddNode("linear", layer++, 130);
      AddOp("linear", taken, {130.5, 131}, {gradient}, kNone);
    }
    of_value_ = of_value, of_key_ = of_key;
  };
  Attend(By::kGaps, false, nodes);
  ASSERT_EQ(CopiesOf(of_value_).size(), 1u);
  EXPECT_GT(CopiesOf(of_value_)[0].begin, 114);
  EXPECT_LT(CopiesOf(of_value_)[0].begin, CopiesOf(of_key_)[0].begin) << "the last one is converted first";
}

// That of the scores, which the first product's node is given too.
TEST_F(WideProductsTest, TheGradientOfAMaskIsConvertedWhereTheMaskWasAdded) {
  uint32_t of_scores = 0;
  const auto nodes = [&] {
    of_scores = AddBlock(101, 131);
    AddOp("aten::_softmax_backward_data", AddNode("SafeSoftmaxBackward0", inner_[2], 100), {100.5, 102},
          {scores_}, of_scores);
    AddOp("AddBackward0", AddNode("AddBackward0", inner_[1], 104), {104.5, 105}, {of_scores}, kNone);
    AddOp("aten::bmm", AddNode("BmmBackward0", inner_[1], 110), {110.5, 112}, {of_scores},
          AddBlock(111, 131));
    AddOp("linear", AddNode("linear", 3, 130), {130.5, 131}, {of_scores}, kNone);
  };
  Attend(By::kMask, false, nodes);
  ASSERT_EQ(CopiesOf(of_scores).size(), 1u);
  EXPECT_EQ(CopiesOf(of_scores)[0].requested, kLow);
  EXPECT_GT(CopiesOf(of_scores)[0].begin, 104);
  EXPECT_LT(CopiesOf(of_scores)[0].begin, 110) << "not behind all nodes of the call";
  EXPECT_EQ(changed_.blocks[of_scores].requested, kWide);
}

TEST_F(WideProductsTest, NoKernelTakesWindowsInADimensionOfTheirOwn) {
  Attend(By::kWindows);
  EXPECT_TRUE(StaysProducts(step_, step_.ops[products_]));
  EXPECT_EQ(CopiesOf(given_[0]).size(), 1u);
  EXPECT_EQ(changed_.blocks[scores_].requested, kWide);
}

TEST_F(WideProductsTest, NoKernelSpreadsQueriesOfOneSampleOverTheKeysOfAll) {
  Attend(By::kSamples);
  EXPECT_TRUE(StaysProducts(step_, step_.ops[products_]));
  EXPECT_EQ(CopiesOf(given_[0]).size(), 1u);
  EXPECT_EQ(changed_.blocks[scores_].requested, kWide);
}

TEST_F(WideProductsTest, WhatAKernelMayTakeStaysLow) {
  Attend(By::kNothing);
  EXPECT_FALSE(StaysProducts(step_, step_.ops[products_]));
  EXPECT_EQ(changed_.blocks[scores_].requested, kLow);
  EXPECT_TRUE(CopiesOf(given_[0]).empty());
}

}  // namespace
}  // namespace vramscope::whatif
