// SPDX-License-Identifier: Apache-2.0
// A decoder of three layers that each receive the encoder's output, in a hand-written step: where the
// gradients of that output wait if each layer is one of FSDP's units.
//
//   backward    layer 2 ─ sum      layer 1 ─ key, sum += key ─ value, sum += value      layer 0 ─ ...
#include "profiler/whatif/shard/sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/testing/lives.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

class ShardSumsTest : public testing::Test, protected WrittenOperators {
 protected:
  static constexpr int64_t kFirst = 110,
                           kEach = 20;  // of backward: where the first layer begins, and how long

  ShardSumsTest() {
    for (int layer = 0; layer < 3; ++layer) {
      const BlockIndex parameter = AddBlock(kBefore, kForever);
      step_.blocks[parameter].category = Category::kParameter;
      const Position begin = 10 + 10 * layer, back = kFirst + kEach * (2 - layer);
      units_.push_back(
          {paths_[layer], {{begin, begin + 10}}, {back, back + kEach}, {parameter}, {{back, back + kEach}}});
    }
    const BlockIndex head = AddBlock(kBefore, kForever);
    units_.push_back({"", {{0, 50}}, {kFirst, 190}, {head}, {{kFirst, 190}}});
    encoded_ = AddBlock(5, 190);
    for (const Position at : {12, 14, 22, 24, 32, 34}) {
      const BlockIndex product = AddBlock(HooksAfter(at, 50), 190);
      forward_.push_back(AddOp("aten::linear", {}, {at, at + 1}, {encoded_}, product));
    }
    sum_ = Gradient(5, kFirst + 2, 190);
  }

  // Adds the gradient that the node of one of forward's operators computes.
  BlockIndex Gradient(size_t of, Position at, Position end) {
    const NodeIndex node = AddNode("MmBackward0", forward_[of], at);
    const BlockIndex gradient = AddBlock(HooksAfter(at + 1, 50), end);
    AddOp("aten::mm", node, {at + 1, at + 2}, {encoded_}, gradient);
    return gradient;
  }
  // A gradient as above, which the engine adds to the sum and then frees.
  struct Added {
    BlockIndex gradient;
    OpIndex op;
  };
  Added AddTo(BlockIndex sum, size_t of, Position at) {
    const BlockIndex gradient = Gradient(of, at, HooksAfter(at + 4, 50));
    const auto node = NodeIndex(step_.nodes.size() - 1);
    return {gradient, AddOp("aten::add_", node, {at + 3, at + 4}, {sum, gradient}, sum)};
  }

  // A gradient as above, which the engine sums with another one into a new block.
  struct Made {
    BlockIndex gradient;
    OpIndex op;
    BlockIndex sum;
  };
  Made AddUp(BlockIndex first, size_t of, Position at) {
    const BlockIndex gradient = Gradient(of, at, HooksAfter(at + 4, 50)),
                     sum = AddBlock(HooksAfter(at + 3, 50), 190);
    const auto node = NodeIndex(step_.nodes.size() - 1);
    return {gradient, AddOp("aten::add", node, {at + 3, at + 4}, {first, gradient}, sum), sum};
  }
  void HandOn(size_t of, BlockIndex gradient, Position at) {
    AddOp("AddBackward0", AddNode("AddBackward0", forward_[of], at), {HooksAfter(at, 50), at + 1}, {gradient},
          {});
  }

  [[nodiscard]] std::vector<SumOfUnit> Sums() const { return SumsOfUnits(step_, units_); }

  const char* const paths_[3] = {"layers.0", "layers.1", "layers.2"};
  std::vector<Unit> units_;
  std::vector<OpIndex> forward_;  // two operators per layer
  BlockIndex encoded_ = 0, sum_ = 0;
};

TEST_F(ShardSumsTest, TwoThatALaterUnitAddsAreAddedUpInASumOfItsOwn) {
  const Added key = AddTo(sum_, 3, 132), value = AddTo(sum_, 2, 140);
  const std::vector<SumOfUnit> sums = Sums();
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].unit, &units_[1]);
  EXPECT_EQ(sums[0].gradient, key.gradient);
  EXPECT_EQ(sums[0].second, value.op);
}

TEST_F(ShardSumsTest, OneThatALaterUnitAddsWaits) {
  const Added key = AddTo(sum_, 3, 132);
  const std::vector<SumOfUnit> sums = Sums();
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].gradient, key.gradient);
  EXPECT_EQ(sums[0].second, kNone);
}

TEST_F(ShardSumsTest, EachLaterUnitHasItsOwn) {
  const Added first = AddTo(sum_, 3, 132), last = AddTo(sum_, 1, 152);
  const std::vector<SumOfUnit> sums = Sums();
  ASSERT_EQ(sums.size(), 2u);
  for (const SumOfUnit& sum : sums)
    EXPECT_EQ(sum.gradient, sum.unit == &units_[1] ? first.gradient : last.gradient);
}

TEST_F(ShardSumsTest, WhatTheUnitAddsThatMadeTheSumIsAsItWas) {
  (void)AddTo(sum_, 4, 118);
  EXPECT_TRUE(Sums().empty());
}

// For example the final layer's gradient of the timestep that each layer receives.
TEST_F(ShardSumsTest, WhatIsAddedToASumOfALayerBehindAllUnitsWaitsToo) {
  const BlockIndex product = AddBlock(HooksAfter(45, 50), 190);
  forward_.push_back(AddOp("aten::linear", {}, {45, 46}, {encoded_}, product));
  const BlockIndex sum = Gradient(6, kFirst - 6, 190);
  const Added first = AddTo(sum, 5, 114);
  const std::vector<SumOfUnit> sums = Sums();
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].unit, &units_[2]);
  EXPECT_EQ(sums[0].gradient, first.gradient);
}

// The unit's own residual: the sum came from its own node, so what the unit adds first belongs to no other.
TEST_F(ShardSumsTest, WhatAUnitAddsToASumThatItHandedOnItselfIsAsItWas) {
  AddOp("AddBackward0", AddNode("AddBackward0", forward_[3], 130), {HooksAfter(130, 50), 131}, {sum_}, {});
  (void)AddTo(sum_, 3, 132), (void)AddTo(sum_, 2, 140);
  EXPECT_TRUE(Sums().empty());
  const Added last = AddTo(sum_, 1, 152);
  const std::vector<SumOfUnit> sums = Sums();
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].unit, &units_[0]);
  EXPECT_EQ(sums[0].gradient, last.gradient);
}

TEST_F(ShardSumsTest, WhatIsAddedToASumThatWasHandedOnInBetweenIsLeftOut) {
  const Added key = AddTo(sum_, 3, 132);
  AddOp("aten::mul", AddNode("MulBackward0", forward_[2], 142), {143, 144}, {sum_},
        AddBlock(HooksAfter(143, 50), 190));
  (void)AddTo(sum_, 1, 152);
  const std::vector<SumOfUnit> sums = Sums();
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].gradient, key.gradient);
}

TEST_F(ShardSumsTest, WhatStaysBehindTheAdditionWaitsAnyway) {
  const Added key = AddTo(sum_, 3, 132);
  step_.blocks[key.gradient].end = 160;
  EXPECT_TRUE(Sums().empty()) << "another node has it";
  step_.blocks[key.gradient].end = 137;
  EXPECT_EQ(Sums().size(), 1u);
  step_.blocks[key.gradient].accumulated = HooksAfter(136, 50);
  EXPECT_TRUE(Sums().empty()) << "a parameter's";
}

TEST_F(ShardSumsTest, UnitsAddThemUpWhenTheyAreDone) {
  const Added key = AddTo(sum_, 3, 132), value = AddTo(sum_, 2, 140), last = AddTo(sum_, 1, 152);
  const Step sharded = FullySharded(step_, units_, 2, true);
  EXPECT_TRUE(IsNear(sharded.blocks[key.gradient].end, step_.ops[value.op].end)) << "into their sum";
  EXPECT_EQ(sharded.blocks[value.gradient].end, step_.blocks[value.gradient].end);
  EXPECT_EQ(sharded.blocks[last.gradient].end.event, units_[0].backward.end.event) << "it waits";
  std::vector<StepBlock> sums;
  for (const StepBlock& block : sharded.blocks)
    if (block.copy_of == key.gradient) sums.push_back(block);
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].requested, 512u);
  EXPECT_GT(sums[0].begin, step_.ops[value.op].begin);
  EXPECT_LT(sums[0].begin, step_.ops[value.op].end);
  EXPECT_EQ(sums[0].end.event, units_[1].backward.end.event);
}

// PSPNet's four pools, and what they pool: the gradient of their concatenation is a part with gaps.
TEST_F(ShardSumsTest, ASumThatALaterUnitMakesIsMadeWhenItIsDone) {
  const Made key = AddUp(sum_, 3, 132);
  ASSERT_EQ(Sums().size(), 1u);
  EXPECT_EQ(Sums()[0].unit, &units_[1]);
  EXPECT_EQ(Sums()[0].made, key.op);
  EXPECT_EQ(Sums()[0].second, kNone);
  for (const bool goes : {false, true}) {
    if (goes) step_.blocks[sum_].end = HooksAfter(136, 50);
    const Step sharded = FullySharded(step_, units_, 2, true);
    EXPECT_EQ(sharded.blocks[key.sum].begin.event, units_[1].backward.end.event);
    EXPECT_GT(sharded.blocks[key.gradient].end, sharded.blocks[key.sum].begin);
    EXPECT_GT(sharded.blocks[sum_].end, sharded.blocks[key.sum].begin) << "what it adds to";
    EXPECT_EQ(sharded.blocks[sum_].end < sharded.blocks[key.gradient].end, goes);
  }
}

TEST_F(ShardSumsTest, WhatItAddsToThatWaitsInASumOfItsOwn) {
  const Made key = AddUp(sum_, 3, 132);
  const Added value = AddTo(key.sum, 2, 140);
  ASSERT_EQ(Sums().size(), 1u);
  EXPECT_EQ(Sums()[0].gradient, key.gradient);
  EXPECT_EQ(Sums()[0].second, value.op);
  const Step sharded = FullySharded(step_, units_, 2, true);
  EXPECT_TRUE(IsNear(sharded.blocks[key.gradient].end, step_.ops[value.op].end));
  EXPECT_EQ(sharded.blocks[key.sum].begin.event, units_[1].backward.end.event);
}

// Segment Anything's tokens and image; a layer uses the tokens first.
TEST_F(ShardSumsTest, OfSeveralSumsThatAUnitMakesOneFollowsTheOther) {
  const BlockIndex other = Gradient(4, kFirst + 12, 145);
  const Made image = AddUp(other, 3, 132), tokens = AddUp(sum_, 2, 140);
  const Step sharded = FullySharded(step_, units_, 2, true);
  EXPECT_LT(sharded.blocks[tokens.sum].begin, sharded.blocks[image.sum].begin);
  EXPECT_LT(sharded.blocks[image.sum].begin, sharded.blocks[tokens.gradient].end);
  EXPECT_EQ(sharded.blocks[image.gradient].end, sharded.blocks[tokens.gradient].end);
}

// A residual around a layer, and one inside it.
TEST_F(ShardSumsTest, ASumIsTheUnitsOwnWhereOneOfItsNodesHandedOnWhatIsAddedTo) {
  const BlockIndex product = AddBlock(HooksAfter(45, 50), 190);
  forward_.push_back(AddOp("aten::add", {}, {45, 46}, {encoded_}, product));
  HandOn(6, sum_, 129);
  HandOn(3, sum_, 130);
  (void)AddUp(sum_, 2, 140);
  EXPECT_EQ(Sums().size(), 1u) << "the model's came first";
  step_.nodes[step_.ops[step_.ops.size() - 4].node].made = HooksAfter(step_.ops[forward_[3]].begin, 50);
  EXPECT_TRUE(Sums().empty());
}

TEST_F(ShardSumsTest, ASumThatTheUnitUsesIsOfWhatItMadeItself) {
  const Made key = AddUp(sum_, 3, 132);
  AddOp("aten::mul", AddNode("MulBackward0", forward_[2], 142), {143, 144}, {key.sum},
        AddBlock(HooksAfter(143, 50), 190));
  EXPECT_TRUE(Sums().empty());
}

// A gradient in 16 bits, converted from one that a node computed in float32.
TEST_F(ShardSumsTest, OfAGradientThatWasConvertedTheCopyWaits) {
  const Added key = AddTo(sum_, 3, 132), value = AddTo(sum_, 2, 140);
  StepBlock copy = step_.blocks[key.gradient];
  copy.copy_of = key.gradient, copy.requested /= 2;
  const auto low = step_.blocks.Next();
  const Position converted = HooksAfter(step_.blocks[key.gradient].begin, 20);
  copy.begin = step_.blocks[key.gradient].end = converted;
  step_.blocks.push_back(copy);
  EXPECT_EQ(LastVersionOf(step_, key.gradient), low);
  const Step sharded = FullySharded(step_, units_, 2, true);
  EXPECT_EQ(sharded.blocks[key.gradient].end, converted);
  EXPECT_TRUE(IsNear(sharded.blocks[low].end, step_.ops[value.op].end));
}

// If the loss is computed outside the model, the first node of the last layer belongs to the model too.
TEST_F(ShardSumsTest, WhatIsGatheredAheadComesBeforeItGoes) {
  for (const int64_t rest : {kFirst - 5, kFirst, kFirst + 5}) {
    units_.back().backward.begin = rest;
    uint32_t gathered = 0;
    for (const StepBlock& block : FullySharded(step_, units_, 2, true).blocks) {
      EXPECT_LT(block.begin, block.end) << "the rest begins at " << rest;
      gathered += block.category == Category::kCommunication && block.begin > 100 && block.begin < kFirst;
    }
    EXPECT_GT(gathered, 0u) << rest;
  }
}

}  // namespace
}  // namespace vramscope::whatif
