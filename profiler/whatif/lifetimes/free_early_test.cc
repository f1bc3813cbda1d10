// SPDX-License-Identifier: Apache-2.0
// Batches that backward does not need, freed as early as a program can: together with the loss.
//
//   step     batch ─ mm ─ gelu ─ mul, which scales the loss ─ ones_like, what backward begins with
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/step/segments.h"
#include "profiler/whatif/testing/lives.h"
#include "profiler/whatif/testing/loop.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

class BatchFreedEarlyTest : public testing::Test {
 protected:
  BatchFreedEarlyTest() {
    whatif::Step bare = TheLoop().Read();
    for (const BlockIndex i : bare.blocks.Indices())
      if (bare.blocks[i].id == TheLoop().s.Id("batch")) batch_ = i;
    // Removes the batch from backward, so that only forward uses it.
    std::erase_if(bare.saved, [&](const Saved& saved) { return saved.block == batch_; });
    for (Operand& operand : bare.operands)
      if (operand.block == batch_ && bare.ops[operand.op].node != kNone) operand.block = {};
    step_ = std::move(bare);
    step_.own_texts = std::make_shared<std::deque<std::string>>();
    const Position end = step_.modules[2].end;
    scales_ = {HooksAfter(end, 10), HooksAfter(end, 20)};
    Insert("aten::mul", scales_);
    Insert("aten::ones_like", {HooksAfter(end, 30), HooksAfter(end, 40)});
    StepBlock second = step_.blocks[batch_];
    second.begin = HooksAfter(second.begin, 50);
    labels_ = step_.blocks.Next();
    step_.blocks.push_back(second);
    // The operator that receives the batch receives the labels too.
    Operand used = *std::find_if(step_.operands.begin(), step_.operands.end(),
                                 [&](const Operand& operand) { return operand.block == batch_; });
    used.block = labels_;
    step_.operands.push_back(used);
  }

  // An operator without operands, between two recorded events.
  void Insert(const char* name, Window time) {
    Op op;
    op.name = Step::kFirstOwnText + static_cast<uint32_t>(step_.own_texts->size());
    step_.own_texts->push_back(name);
    op.begin = time.begin, op.end = time.end;
    const auto place = std::ranges::lower_bound(step_.ops, time.begin, {}, &Op::begin);
    const OpIndex at(place - step_.ops.begin());
    const auto shift = [at](OpIndex& index) {
      if (index != kNone && index >= at) index = index.Next();
    };
    step_.ops.insert(place, op);
    for (Op& one : step_.ops) shift(one.parent);
    for (Operand& operand : step_.operands) shift(operand.op);
    for (Node& node : step_.nodes) shift(node.op);
    for (StepBlock& block : step_.blocks) shift(block.op);
  }

  // Where the batch and the labels are freed.
  [[nodiscard]] std::pair<Position, Position> Ends() const {
    Scene scene = MakeScene(step_);
    EXPECT_TRUE(FreeEarlyLever().Apply(step_, "all", scene).ok());
    const auto end_of = [&](BlockIndex block) {
      return std::find_if(scene.blocks.begin(), scene.blocks.end(),
                          [&](const Block& one) { return one.origin == block; })
          ->end;
    };
    return {end_of(batch_), end_of(labels_)};
  }

  whatif::Step step_;
  Window scales_;  // the operator
  BlockIndex batch_, labels_;
};

TEST_F(BatchFreedEarlyTest, ABatchGoesWithTheOperatorThatScalesTheLoss) {
  const auto [batch, labels] = Ends();
  EXPECT_TRUE(IsNear(batch, scales_.end));
  EXPECT_GT(batch, scales_.begin);
  EXPECT_LT(batch, step_.backward.front().begin);
}

TEST_F(BatchFreedEarlyTest, OfSeveralTheOneThatWasMadeLastGoesFirst) {
  const auto [batch, labels] = Ends();
  EXPECT_LT(labels, batch);
  EXPECT_TRUE(IsNear(labels, scales_.end));
}

TEST_F(BatchFreedEarlyTest, WhatIsNoBatchGoesWithItsLastUse) {
  step_.blocks[batch_].category = Category::kTemporaryForward;
  EXPECT_LT(Ends().first, scales_.begin);
}

// def loss_of(model, x): noisy = ...; return (model(noisy) - noisy).mean()
TEST_F(BatchFreedEarlyTest, WhatGoesBeforeBackwardIsAFunctionsThatReturned) {
  step_.blocks[batch_].category = Category::kTemporaryForward;
  const Position returned = step_.blocks[batch_].end = Before(step_.backward.front().begin);
  EXPECT_EQ(Ends().first, returned);
  step_.blocks[batch_].end = HooksAfter(step_.backward.front().begin, 1);
  EXPECT_LT(Ends().first, scales_.begin);
}

TEST_F(BatchFreedEarlyTest, ABatchThatBackwardNeedsGoesThere) {
  Saved kept;
  kept.block = batch_, kept.released = step_.backward.front().begin + 1;
  step_.saved.push_back(kept);
  EXPECT_TRUE(IsNear(Ends().first, kept.released));
}

TEST_F(BatchFreedEarlyTest, ABatchThatTheFirstOfTwoBackwardPassesNeedsGoesThere) {
  Saved kept;
  kept.block = batch_, kept.released = step_.backward.front().begin + 1;
  step_.saved.push_back(kept);
  const Position end = step_.backward.front().end;
  step_.backward.push_back({HooksAfter(end, 50), end + 1});
  EXPECT_TRUE(IsNear(Ends().first, kept.released));
}

// self.pyramid = [...], which the model's call in the next step reassigns.
TEST_F(BatchFreedEarlyTest, WhatGoesInTheNextCallOfTheModelIsAModulesOwn) {
  step_.blocks[batch_].category = Category::kTemporaryForward;
  step_.blocks[batch_].end = kForever;
  const auto root = std::ranges::find(step_.modules, kNone, &ModuleCall::parent);
  const auto stays = [&](Position in_next_step) {
    Scene scene = MakeScene(step_);
    const auto block = std::ranges::find(scene.blocks, batch_, &Block::origin);
    const Position end = block->end = in_next_step + scene.length;
    EXPECT_TRUE(FreeEarlyLever().Apply(step_, "all", scene).ok());
    return block->end == end;
  };
  EXPECT_TRUE(stays(root->begin + 1));
  EXPECT_FALSE(stays(HooksAfter(root->end, 1))) << "a variable that gets what the model returns";
}

// guesses.append(...), and a loss for each guess: `del guesses` comes after all losses.
TEST_F(BatchFreedEarlyTest, WhatIsInAListGoesWhenNothingNeedsAnyOfThem) {
  const OpIndex scales(std::ranges::find(step_.ops, scales_.begin, &Op::begin) - step_.ops.begin());
  step_.operands.back().op = scales;  // reads the second one
  const OpIndex maker(
      std::ranges::find_if(
          step_.ops, [&](const Op& op) { return op.parent == kNone && CallAt(step_, op.begin) != kNone; }) -
      step_.ops.begin());
  for (const BlockIndex block : {batch_, labels_}) {
    step_.blocks[block].category = Category::kTemporaryForward;
    step_.blocks[block].op = maker;
    step_.blocks[block].end = step_.backward.front().begin + (block == batch_ ? 3 : 2);
  }
  auto [first, second] = Ends();
  EXPECT_TRUE(IsNear(second, scales_.end));
  EXPECT_TRUE(IsNear(first, second));
  step_.blocks[labels_].requested *= 2;
  std::tie(first, second) = Ends();
  EXPECT_TRUE(IsNear(second, scales_.end));
  EXPECT_LT(first, scales_.begin) << "of other sizes: two variables";
}

}  // namespace
}  // namespace vramscope::whatif
