// SPDX-License-Identifier: Apache-2.0
// A batch of four whose samples go through a model one by one, written down by hand.
#include "profiler/whatif/sizes/sample_turns.h"

#include <gtest/gtest.h>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using Sizes = std::vector<int64_t>;

// x [4, 128]; for each of `samples`: x[i] ─ relu ─ put into zeros(128) ─ tanh ─ tanh
class SampleTurnsTest : public testing::Test {
 protected:
  static constexpr int64_t kSamples = 4, kWide = 128;
  static constexpr uint64_t kBytes = kWide * sizeof(float);

  // What tanh() makes autograd keeps where `kept` says so. Where samples are not `alike`, some have more.
  // `whole`: rows of a tensor that is made of all samples, and kept, beside.
  [[nodiscard]] Step Write(const std::vector<int64_t>& samples, bool kept, int64_t whole = 0,
                           bool alike = false) {
    Inserter into(BareStep(&run_), {});
    const auto seen = [&](uint32_t block, const Sizes& sizes, const Sizes& strides, int64_t offset = 0) {
      Operand operand = Viewed(into, block, {sizes, strides}, kFloat);
      operand.offset = static_cast<uint64_t>(offset);
      return operand;
    };
    Position now = 1;
    const auto call = [&](const char* name, const std::vector<Operand>& from, const Sizes& sizes,
                          const Sizes& strides, uint64_t bytes) {
      StepBlock made;
      made.begin = now + 0.5, made.end = 1000, made.requested = bytes;
      const uint32_t op = into.Begin(name, kNone, kNone, now, from);
      made.op = op;
      const uint32_t block = into.AddBlock(made);
      into.End(op, now + 1, {seen(block, sizes, strides)});
      now += 2;
      return block;
    };
    StepBlock input;
    input.category = classify::Category::kInput;
    (void)into.AddBlock(input);
    into.End(into.Begin("aten::view", kNone, kNone, 0, {seen(0, {kSamples, kWide}, {kWide, 1})}), 0.5, {});
    std::vector<uint32_t> saved;
    for (const int64_t sample : samples) {
      const uint64_t bytes = alike ? kBytes : kBytes + static_cast<uint64_t>(sample) * 512;
      const uint32_t relu = call("aten::relu", {seen(0, {kWide}, {1}, sample * kWide)}, {kWide}, {1}, bytes);
      const uint32_t buffer = call("aten::zeros", {}, {kWide}, {1}, bytes);
      into.End(into.Begin("aten::index_put_", kNone, kNone, now,
                          {seen(buffer, {kWide}, {1}), seen(relu, {kWide}, {1})}),
               now + 1, {seen(buffer, {kWide}, {1})});
      now += 2;
      uint32_t last = buffer;
      for (int layer = 0; layer < 2; ++layer) {
        last = call("aten::tanh", {seen(last, {kWide}, {1})}, {kWide}, {1}, bytes);
        if (kept) saved.push_back(last);
      }
    }
    if (whole > 0)
      saved.push_back(call("aten::mul", {seen(0, {kSamples, 1, kWide}, {kWide, kWide, 1})},
                           {kSamples, whole, kWide}, {whole * kWide, kWide, 1}, kSamples * whole * kBytes));
    Step step = std::move(into).Finish();
    for (const uint32_t block : saved) step.saved.push_back({block});
    return step;
  }

 private:
  model::Run run_;
};

TEST_F(SampleTurnsTest, WhatGoesThroughAModelSampleBySampleIsNoBatchToScale) {
  const Step turns = Write({0, 1, 2, 3}, true);
  ASSERT_TRUE(FollowBatch(turns).ok());
  const Result<const BatchAxis*> axis = BatchToScale(turns);
  ASSERT_FALSE(axis.ok());
  EXPECT_NE(axis.error().sentence.find("the 4 samples of a batch through its model one by one"),
            std::string::npos);
  Scene scene;
  EXPECT_FALSE(BatchLever().Apply(turns, "2x", scene).ok());
  EXPECT_TRUE(BatchLever().Settings(turns).empty());
}

TEST_F(SampleTurnsTest, WhatATurnDropsOrIsMadeOfSomeSamplesAloneDoesNotMatter) {
  EXPECT_TRUE(BatchToScale(Write({0, 1, 2, 3}, false)).ok());
  EXPECT_TRUE(BatchToScale(Write({0, 0, 0, 0}, true)).ok());
}

TEST_F(SampleTurnsTest, WhatIsMadeAlikeOfEachIsFollowedThroughWhatItIsPutInAndIntoCopies) {
  Step step = Write({0, 1, 2, 3}, true, 0, true);
  const size_t made = step.saved.size();
  for (size_t i = 0; i < made; ++i) {
    StepBlock copy;
    copy.copy_of = step.saved[i].block, copy.begin = 500, copy.end = 1000, copy.requested = kBytes / 2;
    step.saved.push_back({static_cast<uint32_t>(step.blocks.size())});
    step.blocks.push_back(copy);
  }
  ASSERT_TRUE(BatchToScale(step).ok());
  for (size_t i = 0; i < 2 * made; ++i)
    EXPECT_EQ(FollowBatch(step)->SampleOf(step.saved[i].block), static_cast<int64_t>(i % made / 2));
}

TEST_F(SampleTurnsTest, NorDoesALittleBesideWhatIsMadeOfAllSamples) {
  EXPECT_TRUE(BatchToScale(Write({0, 1, 2, 3}, true, 32)).ok());
  EXPECT_FALSE(BatchToScale(Write({0, 1, 2, 3}, true, 8)).ok());
}

}  // namespace
}  // namespace vramscope::whatif
