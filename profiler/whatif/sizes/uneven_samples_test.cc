// SPDX-License-Identifier: Apache-2.0
// Boxes of four pictures, with other numbers of things in each, joined and compared with each other, as
// detectors' losses do.
#include "profiler/whatif/sizes/uneven_samples.h"

#include <gtest/gtest.h>

#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using Counts = std::vector<int64_t>;

constexpr uint32_t kWanted = 0, kBoxes = 1, kCompared = 2;
constexpr int64_t kMost = 10, kSides = 4;

class UnevenSamplesTest : public testing::Test {
 protected:
  // wanted [4, 10, 4]: boxes = cat([wanted[0, :10], wanted[1, :8], ...]); boxes[:, None] - boxes, beside
  // something of so many bytes.
  [[nodiscard]] Step Write(const Counts& things, uint64_t bytes_beside = 0) {
    const Step bare = BareStep(&run_);
    Inserter into(bare, {});
    int64_t rows = 0;
    for (const int64_t each : things) rows += each;
    StepBlock block;
    block.category = classify::Category::kInput, block.requested = 4 * kMost * kSides * 4;
    (void)into.AddBlock(block);
    block.category = classify::Category::kActivation;
    for (const auto& [begin, bytes] : {std::pair(3.5, rows * kSides * 4), std::pair(5.5, rows * rows * 4)}) {
      block.begin = begin, block.requested = static_cast<uint64_t>(bytes);
      (void)into.AddBlock(block);
    }
    block.begin = 1, block.requested = bytes_beside;
    (void)into.AddBlock(block);
    const View wanted{{4, kMost, kSides}, {kMost * kSides, kSides, 1}};
    into.End(into.Begin("aten::mul", kNone, kNone, 0, {Viewed(into, kWanted, wanted, kFloat)}), 0.5, {});
    std::vector<Operand> parts;
    for (size_t i = 0; i < things.size(); ++i) {
      parts.push_back(Viewed(into, kWanted, {{things[i], kSides}, {kSides, 1}}, kFloat));
      parts.back().offset = i * kMost * kSides;
    }
    const Operand boxes = Viewed(into, kBoxes, {{rows, kSides}, {kSides, 1}}, kFloat);
    into.End(into.Begin("aten::cat", kNone, kNone, 3, parts), 4, {boxes});
    const Operand column = Viewed(into, kBoxes, {{rows, 1}, {kSides, 1}}, kFloat);
    const Operand row = Viewed(into, kBoxes, {{rows}, {kSides}}, kFloat);
    const Operand compared = Viewed(into, kCompared, {{rows, rows}, {rows, 1}}, kFloat);
    into.End(into.Begin("aten::sub", kNone, kNone, 5, {column, row}), 6, {compared});
    return std::move(into).Finish();
  }

 private:
  model::Run run_;
};

TEST_F(UnevenSamplesTest, WhatIsJoinedHasAsManyOfEachOnAverage) {
  const Step step = Write({10, 8, 6, 4}), odd = Write({10, 8, 6, 3});
  EXPECT_EQ(FollowBatch(step)->stride[kBoxes], 7u * kSides);
  EXPECT_EQ(FollowBatch(odd)->stride[kBoxes], 0u) << "6.75 of each";
}

TEST_F(UnevenSamplesTest, WhereThatIsMuchOfTheMemoryAnotherBatchIsNotPredicted) {
  const Step step = Write({10, 8, 6, 4});
  const std::string why = WhyUneven(step, *FollowBatch(step));
  EXPECT_TRUE(why.starts_with("the samples of the recorded batch have unequally many things, 28 together, "))
      << why;
}

TEST_F(UnevenSamplesTest, ButWhereItIsLittleOrAllHaveAsMany) {
  const Step little = Write({10, 8, 6, 4}, 1 << 20), even = Write({7, 7, 7, 7});
  EXPECT_EQ(WhyUneven(little, *FollowBatch(little)), "");
  EXPECT_EQ(WhyUneven(even, *FollowBatch(even)), "");
}

}  // namespace
}  // namespace vramscope::whatif
