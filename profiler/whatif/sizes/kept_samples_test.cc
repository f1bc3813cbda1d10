// SPDX-License-Identifier: Apache-2.0
// What a step before made for four samples: encodings of positions, as SAM 3 keeps them for each size of a
// map.
#include "profiler/whatif/sizes/kept_samples.h"

#include <gtest/gtest.h>

#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

class KeptSamplesTest : public testing::Test {
 protected:
  // x [4, 32, 8] and what is kept: the operator of both.
  [[nodiscard]] std::string Why(const View& kept, Category category = Category::kTemporaryForward,
                                Position begin = kBefore, const char* name = "aten::add") {
    constexpr uint32_t kInput = 0, kKept = 1, kSum = 2;
    const Step bare = BareStep(&run_);
    Inserter into(bare, {});
    StepBlock block;
    block.category = Category::kInput;
    (void)into.AddBlock(block);
    block.category = category, block.begin = begin;
    (void)into.AddBlock(block);
    block.category = Category::kActivation, block.begin = 3.5;
    (void)into.AddBlock(block);
    const View x{{4, 32, 8}, {256, 8, 1}};
    const Operand of_x = Viewed(into, kInput, x, kFloat), sum = Viewed(into, kSum, x, kFloat);
    into.End(into.Begin(name, kNone, kNone, 3, {of_x, Viewed(into, kKept, kept, kFloat)}), 4, {sum});
    const Step step = std::move(into).Finish();
    BatchAxis axis;
    axis.batch = 4, axis.stride = {256, 0, 256}, axis.second.resize(3);
    return WhyKeptForSamples(step, axis);
  }

  const View of_samples_{{4, 32, 8}, {256, 8, 1}};

 private:
  model::Run run_;
};

TEST_F(KeptSamplesTest, WhatIsAddedToEachSampleIsSaidNotToBeKnown) {
  EXPECT_EQ(
      Why(of_samples_),
      "the program keeps what it made for 4 samples in a step before, as an lru_cache does, and of what the "
      "recorded step does not use neither the samples nor the type is known: record it with that change.");
}

TEST_F(KeptSamplesTest, ButNothingElseThatIsThere) {
  EXPECT_EQ(Why({{1, 32, 8}, {256, 8, 1}}), "") << "one for all samples";
  EXPECT_EQ(Why({{4, 32, 8}, {0, 8, 1}}), "") << "expanded";
  EXPECT_EQ(Why({{32, 8}, {8, 1}}), "");
  EXPECT_EQ(Why(of_samples_, Category::kBuffer), "");
  EXPECT_EQ(Why(of_samples_, Category::kTemporaryForward, 1.5), "") << "the recorded step made it";
  EXPECT_EQ(Why(of_samples_, Category::kTemporaryForward, kBefore, "aten::mm"), "");
}

}  // namespace
}  // namespace vramscope::whatif
