// SPDX-License-Identifier: Apache-2.0
// A loss of 128 rows over a vocabulary of 64, written down by hand:
//
//   hidden [128, 16] ─ mm ─▶ logits [128, 64] ─ log_softmax, nll ─▶ loss
//
// What each part takes the author knows; tests/whatif_accuracy has real programs, really changed.
#include "profiler/whatif/cross_entropy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/insert.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using ::testing::HasSubstr;

constexpr uint64_t kLogits = 128 * 64 * 4, kHidden = 128 * 16 * 4, kWeight = 64 * 16 * 4;

struct Network {
  // `elsewhere`: the logits are used for an accuracy too.
  explicit Network(bool elsewhere = false) {
    Step bare;
    bare.length = 300;
    bare.shapes.push_back({});
    bare.backward.push_back({100, 200});
    bare.optimizer.push_back({200, 300});
    Inserter into(bare, {});
    into.SetElements(6);
    const auto block = [&](uint64_t bytes, Position begin, Position end, Category category) {
      StepBlock made;
      made.id = static_cast<model::BlockId>(into.step().blocks.size());
      made.requested = bytes;
      made.begin = begin;
      made.end = end;
      made.category = category;
      return into.AddBlock(made);
    };
    const uint32_t weight = block(kWeight, kBefore, kForever, Category::kParameter);
    const uint32_t hidden = block(kHidden, 5, 145, Category::kActivation);
    const uint32_t logits = block(kLogits, 12, 40, Category::kTemporaryForward);
    const uint32_t logarithms = block(kLogits, 22, 125, Category::kActivation);
    const uint32_t loss = block(4, 28, 210, Category::kTemporaryForward);
    const uint32_t labels = block(128 * 8, 2, 210, Category::kInput);
    const uint32_t mm = into.Begin("aten::mm", model::kNone, model::kNone, 10,
                                   {into.Matrix(hidden, 128, 16), into.Matrix(weight, 16, 64, true)});
    into.End(mm, 15, {into.Matrix(logits, 128, 64)});
    const uint32_t entropy = into.Begin("aten::cross_entropy_loss", model::kNone, model::kNone, 20,
                                        {into.Matrix(logits, 128, 64), into.Matrix(labels, 128, 1)});
    const uint32_t softmax =
        into.Begin("aten::_log_softmax", entropy, model::kNone, 21, {into.Matrix(logits, 128, 64)});
    into.End(softmax, 24, {into.Matrix(logarithms, 128, 64)});
    Operand scalar = into.Matrix(loss, 1, 1);
    scalar.shape = scalar.strides = into.ShapeOf({});
    const uint32_t nll =
        into.Begin("aten::nll_loss_forward", entropy, model::kNone, 25, {into.Matrix(logarithms, 128, 64)});
    into.End(nll, 29, {scalar});
    into.End(entropy, 30, {scalar});
    if (elsewhere) {
      const uint32_t best =
          into.Begin("aten::argmax", model::kNone, model::kNone, 32, {into.Matrix(logits, 128, 64)});
      into.End(best, 35, {});
    }
    const auto node = [&](uint32_t op, Position made, Position begin, uint32_t kept) {
      const uint32_t index = into.AddNode(op, made);
      into.step().nodes[index].begin = begin;
      into.step().nodes[index].end = begin + 19;
      into.Save(kept, index, made);
      into.step().saved.back().released = begin + 15;
      const uint32_t run = into.Begin("Backward", model::kNone, index, begin + 1, {});
      into.End(run, begin + 14, {});
      return run;
    };
    const uint32_t second = node(softmax, 22, 110, logarithms), first = node(mm, 11, 130, hidden);
    const uint32_t of_logits = block(kLogits, 112, 143, Category::kTemporaryBackward);
    const uint32_t of_weight = block(kWeight, 133, 250, Category::kGradient);
    const uint32_t of_hidden = block(kHidden, 136, 180, Category::kTemporaryBackward);
    into.step().blocks[of_logits].op = second;
    into.step().blocks[of_weight].op = into.step().blocks[of_hidden].op = first;
    into.step().blocks[logits].op = mm;
    step = std::move(into).Finish();
  }

  [[nodiscard]] Result<Step> With(const char* value) const {
    return *CrossEntropyLever().Rewrite(step, value);
  }

  Step step;
};

uint64_t LiveAt(const Step& step, Position at) {
  uint64_t bytes = 0;
  for (const StepBlock& block : step.blocks)
    if (block.begin <= at && at < block.end) bytes += block.requested;
  return bytes;
}

uint64_t Most(const Step& step) {
  uint64_t most = 0;
  for (const StepBlock& block : step.blocks) most = std::max(most, LiveAt(step, block.begin));
  return most;
}

TEST(CrossEntropyTest, ALinearLayerBeforeTheLossIsFound) {
  const LinearLoss loss = FindLinearLoss(Network().step).value();
  EXPECT_EQ(loss.rows, 128);
  EXPECT_EQ(loss.width, 16);
  EXPECT_EQ(loss.vocabulary, 64);
  EXPECT_EQ(loss.element, 4u);
  EXPECT_EQ(loss.gradients.size(), 2u);
}

TEST(CrossEntropyTest, LogitsAreNeverThereAsAWhole) {
  constexpr uint64_t kLabels = 128 * 8, kLoss = 4;
  const Network network;
  // In backward: weight, hidden, logarithms and the gradient of the logits.
  EXPECT_EQ(Most(network.step), kWeight + kHidden + 2 * kLogits + kLabels + kLoss);
  const Step changed = network.With("chunked:8").value();
  // In forward: weight, hidden and their gradients, a part's logits and their gradient, and its labels.
  EXPECT_EQ(Most(changed), 2 * kWeight + 2 * kHidden + 2 * kLogits / 8 + 16 * 8 + kLabels);
  // Between forward and backward neither hidden nor logits.
  EXPECT_EQ(LiveAt(changed, 99), 2 * kWeight + kHidden + kLabels + kLoss);
}

TEST(CrossEntropyTest, TheGradientOfWhatGoesInIsAskedForBeforeThatOfTheWeight) {
  const Step changed = Network().With("chunked:8").value();
  Position hidden = kForever, weight = kForever;
  const LinearLoss loss = FindLinearLoss(Network().step).value();
  for (const uint32_t gradient : loss.gradients) {
    const StepBlock& block = changed.blocks[gradient];
    (block.requested == kHidden ? hidden : weight) = block.begin;
  }
  EXPECT_LT(hidden, weight);
}

TEST(CrossEntropyTest, LogitsThatALeverConvertedAreNotThereEither) {
  Network network;
  StepBlock widened = CopyOf(network.step, OutputsOf(network.step, network.step.ops[0])[0].block);
  widened.begin = 18;
  widened.end = 125;
  network.step.blocks.push_back(widened);
  ASSERT_EQ(widened.requested, kLogits);
  EXPECT_EQ(Most(network.With("chunked:8").value()), Most(Network().With("chunked:8").value()));
}

TEST(CrossEntropyTest, FusedHasPartsAsLigerHasThem) {
  // The vocabulary is 4 times as wide as the rows: 4 parts of 32.
  const Network network;
  EXPECT_EQ(Most(network.With("fused").value()), Most(network.With("chunked:4").value()));
  EXPECT_NE(Most(network.With("fused").value()), Most(network.With("chunked:8").value()));
}

TEST(CrossEntropyTest, WhatIsNoLinearLossIsRefusedWithAReason) {
  EXPECT_THAT(Network(true).With("fused").error().sentence, HasSubstr("for something else too"));
  for (const char* value : {"", "chunked", "chunked:1", "chunked:8x", "whole"})
    EXPECT_THAT(Network().With(value).error().sentence, HasSubstr("chunked:8")) << value;
  Network without;
  for (Op& op : without.step.ops) op.name = without.step.ops.back().name;
  EXPECT_THAT(without.With("fused").error().sentence, HasSubstr("no cross-entropy"));
}

}  // namespace
}  // namespace vramscope::whatif
