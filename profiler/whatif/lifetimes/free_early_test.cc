// SPDX-License-Identifier: Apache-2.0
// Batches that nothing of backward needs, freed as early as a program can: with the loss.
//
//   step     batch ─ mm ─ gelu ─ mul, which scales the loss ─ ones_like, what backward begins with
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/step/segments.h"
#include "profiler/whatif/testing/loop.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

class BatchFreedEarlyTest : public testing::Test {
 protected:
  BatchFreedEarlyTest() {
    whatif::Step bare = TheLoop().Read();
    for (uint32_t i = 0; i < bare.blocks.size(); ++i)
      if (bare.blocks[i].id == TheLoop().s.Id("batch")) batch_ = i;
    // Forward alone has it.
    std::erase_if(bare.saved, [&](const Saved& saved) { return saved.block == batch_; });
    for (Operand& operand : bare.operands)
      if (operand.block == batch_ && bare.ops[operand.op].node != kNone) operand.block = kNone;
    Inserter into(bare, {bare.modules[2].end});
    Room room = into.RoomBehind(bare.modules[2].end);
    scales_ = {room.Tick(), room.Tick()};
    into.End(into.Begin("aten::mul", kNone, kNone, scales_.begin, {}), scales_.end, {});
    const Position ones = room.Tick();
    into.End(into.Begin("aten::ones_like", kNone, kNone, ones, {}), room.Tick(), {});
    StepBlock second = into.step().blocks[batch_];
    second.begin += 0.5;
    labels_ = into.AddBlock(second);
    step_ = std::move(into).Finish();
    // The same operator is given it.
    Operand used = *std::find_if(step_.operands.begin(), step_.operands.end(),
                                 [&](const Operand& operand) { return operand.block == batch_; });
    used.block = labels_;
    step_.operands.push_back(used);
  }

  // Where each of them goes.
  [[nodiscard]] std::pair<Position, Position> Ends() const {
    Scene scene = MakeScene(step_);
    EXPECT_TRUE(FreeEarlyLever().Apply(step_, "all", scene).ok());
    const auto end_of = [&](uint32_t block) {
      return std::find_if(scene.blocks.begin(), scene.blocks.end(),
                          [&](const Block& one) { return one.origin == block; })
          ->end;
    };
    return {end_of(batch_), end_of(labels_)};
  }

  whatif::Step step_;
  Window scales_;  // the operator
  uint32_t batch_ = kNone, labels_ = kNone;
};

TEST_F(BatchFreedEarlyTest, ABatchGoesWithTheOperatorThatScalesTheLoss) {
  const auto [batch, labels] = Ends();
  EXPECT_NEAR(batch, scales_.end, 0.01);
  EXPECT_GT(batch, scales_.begin);
  EXPECT_LT(batch, step_.backward.front().begin);
}

TEST_F(BatchFreedEarlyTest, OfSeveralTheOneThatWasMadeLastGoesFirst) {
  const auto [batch, labels] = Ends();
  EXPECT_LT(labels, batch);
  EXPECT_NEAR(labels, scales_.end, 0.01);
}

TEST_F(BatchFreedEarlyTest, WhatIsNoBatchGoesWithItsLastUse) {
  step_.blocks[batch_].category = Category::kTemporaryForward;
  EXPECT_LT(Ends().first, scales_.begin);
}

// def loss_of(model, x): noisy = ...; return (model(noisy) - noisy).mean()
TEST_F(BatchFreedEarlyTest, WhatGoesBeforeBackwardIsAFunctionsThatReturned) {
  step_.blocks[batch_].category = Category::kTemporaryForward;
  const Position returned = step_.blocks[batch_].end = (scales_.end + step_.backward.front().begin) / 2;
  EXPECT_EQ(Ends().first, returned);
  step_.blocks[batch_].end = step_.backward.front().begin + 0.01;
  EXPECT_LT(Ends().first, scales_.begin);
}

TEST_F(BatchFreedEarlyTest, ABatchThatBackwardNeedsGoesThere) {
  Saved kept;
  kept.block = batch_, kept.released = step_.backward.front().begin + 1;
  step_.saved.push_back(kept);
  EXPECT_NEAR(Ends().first, kept.released, 0.01);
}

TEST_F(BatchFreedEarlyTest, ABatchThatTheFirstOfTwoBackwardPassesNeedsGoesThere) {
  Saved kept;
  kept.block = batch_, kept.released = step_.backward.front().begin + 1;
  step_.saved.push_back(kept);
  const Position end = step_.backward.front().end;
  step_.backward.push_back({end + 0.5, end + 1});
  EXPECT_NEAR(Ends().first, kept.released, 0.01);
}

// self.pyramid = [...], which the next step's call of the model gives another value.
TEST_F(BatchFreedEarlyTest, WhatGoesInTheNextCallOfTheModelIsAModulesOwn) {
  step_.blocks[batch_].category = Category::kTemporaryForward;
  step_.blocks[batch_].end = kForever;
  const auto root = std::ranges::find(step_.modules, kNone, &ModuleCall::parent);
  const auto stays = [&](Position in_next_step) {
    Scene scene = MakeScene(step_);
    const auto block = std::ranges::find(scene.blocks, batch_, &Block::origin);
    const Position end = block->end = scene.length + in_next_step;
    EXPECT_TRUE(FreeEarlyLever().Apply(step_, "all", scene).ok());
    return block->end == end;
  };
  EXPECT_TRUE(stays((root->begin + root->end) / 2));
  EXPECT_FALSE(stays(root->end + 0.01)) << "a variable that gets what the model returns";
}

// guesses.append(...), and a loss of each of them: `del guesses` stands behind all.
TEST_F(BatchFreedEarlyTest, WhatIsInAListGoesWhenNothingNeedsAnyOfThem) {
  const auto scales =
      static_cast<uint32_t>(std::ranges::find(step_.ops, scales_.begin, &Op::begin) - step_.ops.begin());
  step_.operands.back().op = scales;  // reads the second one
  const auto maker = static_cast<uint32_t>(
      std::ranges::find_if(
          step_.ops, [&](const Op& op) { return op.parent == kNone && CallAt(step_, op.begin) != kNone; }) -
      step_.ops.begin());
  for (const uint32_t block : {batch_, labels_}) {
    step_.blocks[block].category = Category::kTemporaryForward;
    step_.blocks[block].op = maker;
    step_.blocks[block].end = step_.backward.front().begin + (block == batch_ ? 3 : 2);
  }
  auto [first, second] = Ends();
  EXPECT_NEAR(second, scales_.end, 0.01);
  EXPECT_NEAR(first, second, 0.01);
  step_.blocks[labels_].requested *= 2;
  std::tie(first, second) = Ends();
  EXPECT_NEAR(second, scales_.end, 0.01);
  EXPECT_LT(first, scales_.begin) << "of other sizes: two variables";
}

}  // namespace
}  // namespace vramscope::whatif
