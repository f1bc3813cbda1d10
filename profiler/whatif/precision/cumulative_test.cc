// SPDX-License-Identifier: Apache-2.0
// What cumulative sums copy under autocast, in a step put together by hand.
#include "profiler/whatif/precision/cumulative.h"

#include <gtest/gtest.h>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// x = linear(...), in 16 bits; sums(x) * 2; backward of the sums turns the gradient around, adds it up, and
// turns that around.
class PrecisionCumulativeTest : public testing::Test, protected WrittenOperators {
 protected:
  void Sums(const char* name) {
    const uint32_t weight = AddBlock(kBefore, kForever);
    step_.trained = {weight};
    x_ = AddBlock(6, 30), sums_ = AddBlock(21, 90);
    AddOp("aten::linear", kNone, {5, 7}, {weight}, x_);
    const uint32_t op = AddOp(name, kNone, {20, 26}, {x_}, sums_);
    AddOp("aten::mul", kNone, {30, 32}, {sums_}, AddBlock(31, 90));
    AddNode("LinearBackward0", 0, 150);
    const uint32_t node = AddNode("SumsBackward0", op, 130);
    gradient_ = AddBlock(121, 134), turned_ = AddBlock(131.6, 140);
    AddOp("aten::mul", AddNode("MulBackward0", 2, 120), {120.5, 122}, {sums_}, gradient_);
    AddOp("SumsBackward0", node, {130, 133.5}, {gradient_}, kNone);
    const uint32_t flip = AddOp("aten::flip", node, {131, 132}, {gradient_}, turned_);
    step_.ops[flip].parent = flip - 1;
    changed_ = UnderAutocast(step_, kBfloat16Type);
  }
  [[nodiscard]] std::vector<StepBlock> CopiesOf(uint32_t block) const {
    std::vector<StepBlock> copies;
    for (const StepBlock& one : changed_.blocks)
      if (one.copy_of == block) copies.push_back(one);
    return copies;
  }

  uint32_t x_ = 0, sums_ = 0, gradient_ = 0, turned_ = 0;
  whatif::Step changed_;
};

TEST_F(PrecisionCumulativeTest, TheyCopyWhatTheyAddUpBehindTheirResult) {
  Sums("aten::cumsum");
  EXPECT_EQ(changed_.blocks[sums_].requested, 512u);
  const std::vector<StepBlock> copies = CopiesOf(x_);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].requested, 512u);
  EXPECT_GT(copies[0].begin, 21);
  EXPECT_NEAR(copies[0].end, 26, 0.01);
}

TEST_F(PrecisionCumulativeTest, TheirNodeWorksInSixteenBits) {
  Sums("aten::cumsum");
  const std::vector<StepBlock> copies = CopiesOf(gradient_);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(changed_.blocks[gradient_].requested, 512u);
  EXPECT_EQ(copies[0].requested, 256u);
  EXPECT_GT(copies[0].begin, 130);
  EXPECT_LT(copies[0].begin, 131);
  EXPECT_EQ(changed_.blocks[turned_].requested, 256u);
}

TEST_F(PrecisionCumulativeTest, OtherSumsReadSixteenBits) {
  Sums("aten::sum");
  EXPECT_EQ(changed_.blocks[sums_].requested, 512u);
  EXPECT_TRUE(CopiesOf(x_).empty());
  EXPECT_TRUE(CopiesOf(gradient_).empty());
  EXPECT_EQ(changed_.blocks[turned_].requested, 512u);
}

}  // namespace
}  // namespace vramscope::whatif
