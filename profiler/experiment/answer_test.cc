// SPDX-License-Identifier: Apache-2.0
// Oracle: the re-run loop itself: its own counters, and what-if on its own step.
#include "profiler/experiment/answer.h"

#include <gtest/gtest.h>

#include "profiler/model/testing/trace_bytes.h"
#include "profiler/timeline/curve.h"
#include "profiler/whatif/testing/block_loop.h"

namespace vramscope::experiment {
namespace {

using whatif::BlockLoop;
using whatif::BlockShape;

constexpr uint64_t kMiB = 1 << 20;

std::vector<BlockShape> Blocks(uint64_t features) { return {{features}, {features}, {features}}; }

std::unique_ptr<VariantStep> VariantOf(BlockLoop& loop) {
  return ReadVariantStep(model::testing::TraceBytes(*loop.run().source)).value();
}

TEST(AnswerFromTest, ARerunAloneIsWhatPyTorchCounted) {
  BlockLoop recorded(Blocks(1 << 18)), smaller(Blocks(1 << 17));
  const auto variant = VariantOf(smaller);
  const Question parts = SplitQuestion({{"amp", "bf16"}});
  whatif::UseOverStep over;
  const auto answer = AnswerFrom(*variant, recorded.baseline(), parts, &over);
  ASSERT_TRUE(answer.ok()) << answer.error().sentence;
  const timeline::DeviceCurve curve(smaller.run(), 0);
  EXPECT_EQ(answer->after.allocator.allocated_peak, curve.peak().bytes);
  EXPECT_EQ(answer->after.allocator.reserved_peak, curve.peak_reserved().value());
  EXPECT_LT(answer->after.allocator.allocated_peak, answer->before.allocator.allocated_peak);
  EXPECT_EQ(answer->before.allocator.allocated_peak, recorded.baseline().use.allocator.allocated_peak);
  ASSERT_EQ(answer->levers.size(), 1u);
  EXPECT_EQ(answer->levers[0].asked.value, "bf16");
  EXPECT_FALSE(over.points.empty());
}

TEST(AnswerFromTest, FurtherChangesAreComputedOnTheStepOfTheRerun) {
  BlockLoop recorded(Blocks(1 << 18)), smaller(Blocks(1 << 17));
  const auto variant = VariantOf(smaller);
  const auto alone = whatif::Predict(smaller.step(), smaller.baseline(), {{"checkpoint", "blocks.1"}});
  const Question parts = SplitQuestion({{"checkpoint", "blocks.1"}, {"amp", "bf16"}});
  const auto answer = AnswerFrom(*variant, recorded.baseline(), parts);
  ASSERT_TRUE(answer.ok() && alone.ok());
  EXPECT_EQ(answer->after.allocator.allocated_peak, alone->after.allocator.allocated_peak);
  EXPECT_EQ(answer->after.allocator.reserved_peak, alone->after.allocator.reserved_peak);
  EXPECT_LT(answer->after.allocator.allocated_peak, variant->counters.allocated_peak);
  ASSERT_EQ(answer->levers.size(), 2u);
  EXPECT_EQ(answer->levers[0].asked.lever, "amp");
  EXPECT_EQ(answer->levers[1].asked.lever, "checkpoint");
}

TEST(AnswerFromTest, AMomentThatIsNoStepStaysAsItWasButForWhatIsThereAllTheTime) {
  BlockLoop recorded(Blocks(1 << 18)), smaller(Blocks(1 << 17));
  const auto variant = VariantOf(smaller);
  whatif::Baseline with_evaluation = recorded.baseline();
  with_evaluation.rest.later = {500 * kMiB, 600 * kMiB, "evaluation after step 6"};
  with_evaluation.use.place = "evaluation after step 6";
  const auto answer = AnswerFrom(*variant, with_evaluation, SplitQuestion({{"amp", "bf16"}}));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->after.place, "evaluation after step 6");
  const uint64_t less =
      whatif::LiveAt(recorded.baseline().scene, 0) - whatif::LiveAt(variant->baseline.scene, 0);
  EXPECT_EQ(answer->after.allocator.allocated_peak, 500 * kMiB - less);
}

TEST(DriftOfTest, OnlyMoreThanOnePerCentIsTold) {
  BlockLoop recorded(Blocks(1 << 18)), same(Blocks(1 << 18)), smaller(Blocks(1 << 17));
  EXPECT_EQ(DriftOf(recorded.baseline(), *VariantOf(same)).sentence, "");
  const Drift drift = DriftOf(recorded.baseline(), *VariantOf(smaller));
  EXPECT_NE(drift.sentence.find("may be wrong"), std::string::npos);
  EXPECT_TRUE(drift.too_far);
}

TEST(VariantStepTest, ForeignBytesGiveASentence) {
  EXPECT_FALSE(ReadVariantStep({}).ok());
  EXPECT_FALSE(ReadVariantStep(trace::Bytes(1000, std::byte{7})).ok());
  model::testing::Script on_the_host;
  on_the_host.Alloc("a", 100);
  const auto variant = ReadVariantStep(model::testing::TraceBytes(*on_the_host.source()));
  ASSERT_FALSE(variant.ok());
  EXPECT_EQ(variant.error().sentence, "nothing was allocated on a GPU.");
}

}  // namespace
}  // namespace vramscope::experiment
