// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/record/dryrun_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vramscope::cli {
namespace {

using ::testing::ElementsAre;

TEST(DryrunRanksTest, RanksAreNamedOrCounted) {
  EXPECT_THAT(ParseRanksWanted("7,0,max,0", 64)->ranks, ElementsAre(0, 7, 63));
  EXPECT_THAT(ParseRanksWanted("all", 3)->ranks, ElementsAre(0, 1, 2));
  EXPECT_TRUE(ParseRanksWanted("distinct", 512)->distinct);
  for (const char* const wrong : {"", "64", "0,,1", "-1", "all,1", "0x1"})
    EXPECT_FALSE(ParseRanksWanted(wrong, 64).ok()) << wrong;
  EXPECT_FALSE(ParseRanksWanted("all", 512).ok()) << "that many runs take hours";
}

std::vector<uint64_t> RunAll(uint64_t world, const std::function<fleet::RankSummary(uint64_t)>& summary) {
  std::vector<RankRun> runs;
  std::vector<uint64_t> order;
  while (const auto rank = NextDistinct(world, runs)) {
    order.push_back(*rank);
    runs.push_back({*rank, summary(*rank)});
    if (order.size() > 100) break;
  }
  return order;
}

TEST(DryrunRanksTest, EachStageOfAMeshIsRunOnce) {
  const auto order = RunAll(64, [](uint64_t rank) {
    fleet::RankSummary summary;
    const auto at = [&](uint64_t stride, uint32_t size) {
      return static_cast<uint32_t>(rank / stride) % size;
    };
    summary.mesh = {{"pp", at(16, 4), 4}, {"dp", at(2, 8), 8}, {"tp", at(1, 2), 2}, {"dp_tp", 0, 16}};
    return summary;
  });
  EXPECT_THAT(order, ElementsAre(0, 63, 16, 32));
}

TEST(DryrunRanksTest, WithoutAMeshChangesAreFoundBetweenRanks) {
  const auto order = RunAll(512, [](uint64_t rank) {
    fleet::RankSummary summary;
    summary.model = rank < 100 ? "first" : "rest";
    return summary;
  });
  EXPECT_THAT(order, ::testing::SizeIs(2 + 9));
  EXPECT_THAT(order, ::testing::IsSupersetOf({99, 100}));
  EXPECT_THAT(RunAll(512, [](uint64_t) { return fleet::RankSummary(); }), ElementsAre(0, 511));
  EXPECT_THAT(RunAll(1, [](uint64_t) { return fleet::RankSummary(); }), ElementsAre(0));
}

}  // namespace
}  // namespace vramscope::cli
