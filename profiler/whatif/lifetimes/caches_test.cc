// SPDX-License-Identifier: Apache-2.0
// Keys and values that a checkpointed module appended to a cache: they are what autograd keeps, and nothing
// is made of them. Oracle: GradientCheckpointingLayer of transformers, which calls the module without its
// cache.
#include "profiler/whatif/lifetimes/caches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/lifetimes/last_uses.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/testing/written_step.h"
#include "profiler/whatif/training/freeze.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

//   layer from 2 to 60    5 in ─► keys     10 cat(nothing, keys) ─► cached     20 cached ─► out, which keeps
//   it
class CachesTest : public testing::Test, protected WrittenStep {
 protected:
  CachesTest() {
    Module("layer", 2, 60);
    step_.shapes.push_back({0, 2, true}), step_.shapes.push_back({2, 1, true});
    step_.dims = {8, 16, 0};
    in_ = AddBlock(1, 190), keys_ = AddBlock(5.5, 14), cached_ = AddBlock(10.5, 122),
    out_ = AddBlock(20.5, 112);
    keeps_ = Node(120);
    Work(5, Node(150), {in_, keys_});
    Append();
    Work(20, keeps_, {cached_, out_});
    for (uint32_t i = 0; i < step_.ops.size(); ++i) step_.ops[i].begin += 0.25;
  }

  void Append() {
    Op cat;
    cat.name = Text("aten::cat");
    cat.begin = 10, cat.end = 12;
    cat.first_input = static_cast<uint32_t>(step_.operands.size());
    cat.input_count = 2, cat.first_output = cat.first_input + 2, cat.output_count = 1;
    for (const uint32_t block : {kNone, keys_, cached_}) {
      Operand operand;
      operand.op = static_cast<uint32_t>(step_.ops.size());
      operand.block = block;
      operand.shape = block == kNone ? 2 : 1;
      step_.operands.push_back(operand);
    }
    nothing_ = cat.first_input;
    step_.ops.push_back(cat);
  }

  uint32_t in_, keys_, cached_, out_, keeps_, nothing_ = 0;
};

TEST_F(CachesTest, WhatIsAppendedToNothingIsWhatItIsMadeOf) {
  const auto changed = WithoutCaches(step_, {0});
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(changed->blocks[cached_].requested, 0u);
  EXPECT_EQ(changed->blocks[keys_].end, 122) << "as long as what was made of them";
  for (const Saved& saved : changed->saved) {
    if (saved.node == keeps_) {
      EXPECT_EQ(saved.block, keys_);
      EXPECT_EQ(saved.share, 1);
    }
  }
}

// Oracle: repeat_kv of transformers, which copies keys for the heads that share them; autograd keeps the
// copy.
TEST_F(CachesTest, WithoutItWhatAutogradDoesNotKeepGoesBehindThoseWhoUseIt) {
  std::erase_if(step_.saved, [&](const Saved& saved) { return saved.block == cached_; });
  step_.blocks[cached_].end = 61;
  auto changed = WithoutCaches(step_, {0});
  ASSERT_TRUE(changed.has_value());
  EXPECT_NEAR(changed->blocks[keys_].end, step_.ops.back().end, 0.1);
  Module("layer.out", 30, 40, 0);
  step_.held = {{cached_, 1}};
  changed = WithoutCaches(step_, {0});
  ASSERT_TRUE(changed.has_value());
  EXPECT_NEAR(changed->blocks[keys_].end, 40, 0.1) << "a variable has it";
}

TEST_F(CachesTest, OutsideOfTheseCallsAndWhereSomethingWasThereItStays) {
  step_.modules[0].end = 9;
  EXPECT_FALSE(WithoutCaches(step_, {0}).has_value());
  Step something = step_;
  something.modules[0].end = 60;
  something.operands[nothing_].block = in_;
  EXPECT_FALSE(WithoutCaches(something, {0}).has_value());
}

// Oracle: transformers, whose models return the cache beside what they compute.
TEST_F(CachesTest, ItHasWhatWasAppendedUntilTheOutermostCallReturns) {
  Module("layer.attention", 4, 30, 0);
  EXPECT_EQ(LastUsesOf(step_).held[cached_], 60);
  EXPECT_EQ(Holders(step_).SeenUntil(cached_), 60)
      << "also where attention under autocast keeps a copy of it";
  Step other = step_;
  other.operands[nothing_].block = in_;
  other.last_uses = {};
  EXPECT_LT(LastUsesOf(other).held[cached_], 60) << "of something that is there no cache is made";
}

// Oracle: transformers, whose decoder behind an encoder that alone is trained still returns its cache.
TEST_F(CachesTest, ItHasWhatIsFrozenToo) {
  step_.trained = {in_};
  step_.blocks[in_].name = "weight", step_.blocks[in_].category = classify::Category::kParameter;
  (void)Node(130);
  step_.nodes[keeps_].op = 2, step_.nodes[1].op = 0, step_.nodes[2].op = 1;
  for (whatif::Node& node : step_.nodes) node.made = step_.ops[node.op].begin;
  for (Operand& operand : step_.operands)
    if (operand.block != kNone) operand.flags |= trace::kTensorRequiresGrad;
  const auto frozen = [](uint32_t) { return true; };
  EXPECT_NEAR(Frozen(step_, frozen).blocks[cached_].end, 60, 0.1) << "autograd keeps nothing";
  Step other = step_;
  other.operands[nothing_].block = in_;
  EXPECT_LT(Frozen(other, frozen).blocks[cached_].end, 30) << "of something that is there no cache is made";
}

TEST_F(CachesTest, TheLeverSaysThatItIsTurnedOff) {
  const auto prepared = CheckpointLever().Prepare(step_, "layer");
  ASSERT_TRUE(prepared && prepared->ok());
  Scene scene = MakeScene(**prepared);
  const auto outcome = CheckpointLever().Apply(**prepared, "layer", scene);
  ASSERT_TRUE(outcome.ok()) << outcome.error().sentence;
  ASSERT_EQ(outcome->notes.size(), 1u);
  EXPECT_NE(outcome->notes[0].find("use_cache=False"), std::string::npos);
}

// Under autocast cat() makes values as wide as keys; without it they stay what they are, and lie so.
TEST_F(CachesTest, WhoTakesWhatWasMadeTakesWhatItIsMadeOfAsThatLies) {
  const uint32_t before = Shaped({1, 8}), behind = Shaped({16, 1});
  step_.operands[nothing_ + 1].strides = before, step_.operands[nothing_ + 2].strides = behind;
  const Operand taken = step_.operands[nothing_ + 2];
  Operand turned = taken, other = taken;
  turned.shape = Shaped({16, 8}), turned.strides = Shaped({1, 16});
  other.strides = Shaped({4, 1});
  step_.operands.insert(step_.operands.end(), {taken, turned, other});
  const auto changed = WithoutCaches(step_, {0});
  ASSERT_TRUE(changed.has_value());
  EXPECT_TRUE(changed->without_caches);
  const std::span<const Operand> now = std::span(changed->operands).last(3);
  EXPECT_EQ(now[0].block, keys_);
  EXPECT_THAT(StridesOf(*changed, now[0]), testing::ElementsAre(1, 8));
  EXPECT_THAT(StridesOf(*changed, now[1]), testing::ElementsAre(8, 1));
  EXPECT_EQ(now[2].strides, other.strides) << "another view of it";
}

TEST_F(CachesTest, VariablesThatHeldWhatWasMadeHoldWhatItIsMadeOf) {
  step_.named = {{in_, 58}, {keys_, 13, 12}, {cached_, 59, 57}};
  const auto changed = WithoutCaches(step_, {0});
  ASSERT_TRUE(changed.has_value());
  ASSERT_EQ(changed->named.size(), 2u) << "one of each block";
  EXPECT_EQ(changed->named[0].block, in_);
  EXPECT_EQ(changed->named[1].block, keys_);
  EXPECT_EQ(changed->named[1].until, 59);
  EXPECT_EQ(changed->named[1].unconverted, 57);
}

}  // namespace
}  // namespace vramscope::whatif
