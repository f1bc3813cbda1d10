// SPDX-License-Identifier: Apache-2.0
// What conversions wait for in backward, in steps put together by hand: of nodes that are ready the engine
// runs the one that was made last, and autocast converts before a call computes.
//
//   forward    linear(x)            x' = x in 16 bits, weight.t(), x'.view(), mm
//   backward   mm ─ view ─ t, whose gradient is added to others ─ x', whose gradient is
//
//   forward    with torch.no_grad(): linear(x)       weight' = weight in 16 bits, which autocast keeps
//              linear(x) ─ ...
//   backward   ... ─ linear ─ all that was made behind weight' ─ weight'
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class LateSumTest : public testing::Test, protected WrittenOperators {
 protected:
  static constexpr Position kAdd = 123;

  LateSumTest() {
    const uint32_t x = AddBlock(5, 190), out = AddBlock(15, 190);
    linear_ = AddOp("aten::linear", kNone, {10, 20}, {x}, out);
    product_ = AddNode("MmBackward0", linear_, 111);
    gradient_ = AddBlock(112, 126);
    AddOp("aten::mm", product_, {111, 114}, {out}, gradient_);
    step_.nodes.push_back({Text("ViewBackward0"), linear_, 14, 120, 126});
    step_.nodes.push_back({Text("TBackward0"), linear_, 12, 130, 136});
    rules_ = {CastRule::kLow, CastRule::kAsGiven};
    of_weight_ = AddBlock(133, 134);
    copy_ = AddBlock(kAdd - kStride, 190), other_ = AddBlock(100, 125);
  }
  void PutOff(uint32_t add_in = 0) {
    GradientMoments moments(step_, rules_);
    moments.Converts(linear_);
    Operand operand;
    operand.block = gradient_;
    static_cast<void>(moments.OfAdded(operand, kNone, kAdd, add_in));
    moments.PutOffSums(step_);
  }

  std::vector<CastRule> rules_;
  uint32_t linear_ = 0, product_ = 0, gradient_ = 0, of_weight_ = 0, copy_ = 0, other_ = 0;
};

TEST_F(LateSumTest, WhatANodeConvertsIsAddedBehindAllNodesOfItsCall) {
  PutOff();
  EXPECT_GT(step_.blocks[copy_].begin, 136);
  EXPECT_GT(step_.blocks[other_].end, step_.blocks[copy_].begin) << "in the order they did";
  EXPECT_LT(step_.blocks[other_].end, 136 + kStride) << "before what is converted behind the call";
  EXPECT_EQ(step_.blocks[of_weight_].begin, 133);
}

TEST_F(LateSumTest, ASumBehindThemStaysWhereItIs) {
  std::swap(step_.nodes[1].begin, step_.nodes[2].begin), std::swap(step_.nodes[1].end, step_.nodes[2].end);
  step_.nodes[1].begin = 120, step_.nodes[1].end = 122, step_.nodes[2].begin = 122.5,
  step_.nodes[2].end = 126;
  PutOff();
  EXPECT_EQ(step_.blocks[copy_].begin, kAdd - kStride);
  EXPECT_EQ(step_.blocks[other_].end, 125);
}

TEST(CastAsideTest, AWeightsGradientIsConvertedByTheNodeThatIsOlderThanAllThatIsDifferentiated) {
  class Program : public WrittenOperators {
   public:
    // When the weight's gradient is converted; `first`: of two calls, one that autograd sees.
    [[nodiscard]] Position Converted(bool first, bool cleared = false) {
      const uint32_t weight = AddBlock(kBefore, kForever), gradient = AddBlock(112, 190);
      step_.trained = {weight};
      const uint32_t x = AddBlock(5, 190), unseen = AddBlock(11, 30), out = AddBlock(41, 190);
      const uint32_t once = AddOp("aten::linear", kNone, {10, 12}, {x, weight}, unseen);
      const uint32_t again = AddOp("aten::linear", kNone, {40, 42}, {x, weight}, out);
      const uint32_t product = AddNode("MmBackward0", again, 110);
      step_.nodes.push_back({Text("older"), first ? once : again, first ? 10.5 : 20, 130, 134});
      step_.nodes.push_back({Text("torch::autograd::AccumulateGrad"), kNone, kBefore, 116, 118});
      AddOp("aten::mm", product, {111, 113}, {out}, gradient);
      AddOp("torch::autograd::AccumulateGrad", 2, {116.5, 117.5}, {gradient}, kNone);
      step_.blocks[gradient].accumulated = 117;
      if (cleared) step_.autocast_cleared = {20};
      for (const StepBlock& block : UnderAutocast(step_, kBfloat16Type).blocks)
        if (block.copy_of == gradient) return block.begin;
      return kBefore;
    }
  };
  EXPECT_GT(Program().Converted(false), 134);
  EXPECT_LT(Program().Converted(false), 135);
  EXPECT_NEAR(Program().Converted(true), 114, 1) << "the call's own nodes have run";
  EXPECT_NEAR(Program().Converted(false, true), 114, 1) << "torch.clear_autocast_cache() between the two";
}

}  // namespace
}  // namespace vramscope::whatif
