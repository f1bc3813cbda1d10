// SPDX-License-Identifier: Apache-2.0
// Hidden widths of a block that is written down by hand, with batches of 8:
//
//   x [8, 16] ─ wide ─▶ h [8, 32] ─ gelu ─▶ a [8, 32] ─ narrow ─▶ y [8, 16] ─ x + y
//
// What each of its blocks has the author knows; tests/whatif_accuracy has real programs, really pruned.
#include "profiler/whatif/training/narrow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/step/insert.h"

namespace vramscope::whatif {
namespace {

using classify::Category;

class NarrowedNetwork {
 public:
  NarrowedNetwork() {
    Step bare;
    bare.length = 300;
    bare.shapes.push_back({});
    bare.backward.push_back({100, 200});
    bare.optimizer.push_back({200, 300});
    Inserter into(bare, {});
    into.SetElements(6);  // float
    const auto block = [&](const char* name, uint64_t elements, Position begin, Category category) {
      StepBlock made;
      made.id = static_cast<model::BlockId>(into.step().blocks.size());
      made.requested = elements * kFloatBytes;
      made.begin = begin;
      made.category = category;
      made.name = into.step().Text(into.Text(name));
      return into.AddBlock(made);
    };
    const auto matmul = [&](const char* module, Position at, uint32_t from, int64_t in, uint32_t weight,
                            uint32_t to, int64_t out) {
      into.step().modules.push_back({into.Text(module), model::kNone, at, at + 9});
      const uint32_t op = into.Begin("aten::mm", model::kNone, model::kNone, at + 1,
                                     {into.Matrix(from, 8, in), into.Matrix(weight, in, out, true)});
      into.End(op, at + 8, {into.Matrix(to, 8, out)});
      into.step().blocks[to].op = op;
    };
    const auto compute = [&](const char* name, Position at, std::vector<Operand> from, const Operand& to) {
      const uint32_t op = into.Begin(name, model::kNone, model::kNone, at, std::move(from));
      into.step().blocks[to.block].op = op;
      into.End(op, at + 4, {to});
    };
    wide = block("wide.weight", 16 * 32, kBefore, Category::kParameter);
    narrow = block("narrow.weight", 16 * 32, kBefore, Category::kParameter);
    state = block("exp_avg of wide.weight", 16 * 32, kBefore, Category::kOptimizerState);
    x = block("", 8 * 16, 5, Category::kActivation);
    h = block("", 8 * 32, 12, Category::kActivation);
    a = block("", 8 * 32, 22, Category::kActivation);
    y = block("", 8 * 16, 32, Category::kActivation);
    sum = block("", 8 * 16, 42, Category::kActivation);
    gradient = block("wide.weight", 16 * 32, 150, Category::kGradient);
    matmul("wide", 10, x, 16, wide, h, 32);
    compute("aten::gelu", 21, {into.Matrix(h, 8, 32)}, into.Matrix(a, 8, 32));
    matmul("narrow", 30, a, 32, narrow, y, 16);
    compute("aten::add", 41, {into.Matrix(x, 8, 16), into.Matrix(y, 8, 16)}, into.Matrix(sum, 8, 16));
    // Another call's part of a gradient that the engine is yet to add, and the gradient of what `wide` was
    // given had that as many rows as the weight.
    part = block("", 16 * 32, 112, Category::kTemporaryBackward);
    of_given = block("", 16 * 32, 122, Category::kTemporaryBackward);
    const uint32_t node = into.AddNode(model::kNone, 15);
    const auto multiply = [&](Position at, std::vector<Operand> from, uint32_t to) {
      const uint32_t op = into.Begin("aten::mm", model::kNone, node, at, std::move(from));
      into.End(op, at + 8, {into.Matrix(to, 32, 16)});
      into.step().blocks[to].op = op;
    };
    multiply(111, {into.Matrix(y, 32, 8, true), into.Matrix(x, 8, 16)}, part);
    multiply(121, {into.Matrix(y, 32, 32), into.Matrix(wide, 32, 16)}, of_given);
    into.step().trained = {wide, narrow};
    into.step().blocks[gradient].accumulated = 160;
    step = std::move(into).Finish();
  }

  [[nodiscard]] uint64_t Elements(const Step& changed, uint32_t block) const {
    return changed.blocks[block].requested / kFloatBytes;
  }

  Step step;
  uint32_t wide, narrow, state, x, h, a, y, sum, gradient, part, of_given;
};

TEST(NarrowTest, AHiddenWidthIsWhatOneLayerMakesAndAnotherTakesUp) {
  const NarrowedNetwork network;
  const HiddenWidths hidden = HiddenWidthsOf(network.step, "*");
  ASSERT_EQ(hidden.linears.size(), 2u);
  // That of `narrow` goes into a sum with `x`, which is as wide.
  ASSERT_EQ(hidden.widths.size(), 1u);
  EXPECT_THAT(hidden.widths[0].makers, testing::ElementsAre(0));
  EXPECT_THAT(hidden.widths[0].takers, testing::ElementsAre(1));
  EXPECT_THAT(hidden.widths[0].blocks, testing::ElementsAre(network.h, network.a));
  EXPECT_EQ(hidden.widths[0].units, 32);
  EXPECT_FALSE(hidden.widths[0].heads);
}

TEST(NarrowTest, PruningShrinksWhatHasTheWidthAndNothingElse) {
  const NarrowedNetwork network;
  const Step pruned = PruneLever().Rewrite(network.step, "0.25:*")->value();
  for (const uint32_t weight : {network.wide, network.narrow, network.state, network.gradient})
    EXPECT_EQ(network.Elements(pruned, weight), 16u * 24) << weight;
  for (const uint32_t hidden : {network.h, network.a}) EXPECT_EQ(network.Elements(pruned, hidden), 8u * 24);
  for (const uint32_t other : {network.x, network.y, network.sum})
    EXPECT_EQ(network.Elements(pruned, other), 8u * 16);
}

TEST(NarrowTest, EveryCallOfAPrunedLayerHasASmallerGradientOfTheWeight) {
  const NarrowedNetwork network;
  const Step pruned = PruneLever().Rewrite(network.step, "0.25:*")->value();
  EXPECT_EQ(network.Elements(pruned, network.part), 16u * 24);
  EXPECT_EQ(network.Elements(pruned, network.of_given), 16u * 32);
}

TEST(NarrowTest, RanksShareOutAHiddenWidthAndAddUpWhatComesOfIt) {
  const NarrowedNetwork network;
  const Step rank = ShardLever().Rewrite(network.step, "tp:4:*")->value();
  EXPECT_EQ(network.Elements(rank, network.wide), 16u * 8);
  EXPECT_EQ(network.Elements(rank, network.a), 8u * 8);
  // The sum over all ranks comes behind the layer, and this rank's part of it is gone then.
  ASSERT_EQ(rank.blocks.size(), network.step.blocks.size() + 1);
  const StepBlock& part = rank.blocks.back();
  EXPECT_EQ(part.requested, 8u * 16 * kFloatBytes);
  EXPECT_EQ(part.begin, network.step.blocks[network.y].begin);
  EXPECT_GT(rank.blocks[network.y].begin, network.step.modules[1].end);
  EXPECT_GT(part.end, rank.blocks[network.y].begin);
  EXPECT_THAT(ShardLever().Rewrite(network.step, "tp:5:*")->error().sentence,
              testing::HasSubstr("32 elements"));
}

TEST(NarrowTest, HowManyRanksCouldShareAPrunedWidthIsNotKnown) {
  const NarrowedNetwork network;
  const Step pruned = PruneLever().Rewrite(network.step, "0.5:*")->value();
  EXPECT_THAT(ShardLever().Rewrite(pruned, "tp:2:*")->error().sentence, testing::HasSubstr("pruned already"));
}

TEST(NarrowTest, WhatIsNotHiddenIsRefused) {
  const NarrowedNetwork network;
  EXPECT_THAT(PruneLever().Rewrite(network.step, "0.5:narrow")->error().sentence,
              testing::HasSubstr("narrow"));
  for (const char* value : {"", "0", "1", "-0.5", "x", "0.5:"})
    EXPECT_FALSE(PruneLever().Rewrite(network.step, value)->ok()) << value;
}

}  // namespace
}  // namespace vramscope::whatif
