// SPDX-License-Identifier: Apache-2.0
#include "profiler/leaks/all.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "profiler/model/testing/script.h"

namespace vramscope::leaks {
namespace {

using model::testing::kCuda0;
using model::testing::kCuda1;
using model::testing::Script;

// Two ranks of ten steps: rank 0 uses more, rank 1 keeps 96 bytes of each step.
Script TwoRanks(int steps = 10) {
  Script s;
  for (uint32_t rank : {0u, 1u}) {
    s.Process(100 + rank).Device(rank == 0 ? kCuda0 : kCuda1).Alloc("weight", rank == 0 ? 9000 : 400);
    for (int step = 1; step <= steps; ++step) {
      if (rank == 1) s.Alloc("kept" + std::to_string(step), 96);
      s.Alloc("hidden", 128).Saved("hidden");
      s.Backward([&] { s.Released("hidden").Free("hidden"); });
      s.Optimizer("SGD", [&] {});
    }
    s.Free("weight");
  }
  return s;
}

TEST(GrowthOfAllTest, TheRankThatLeaksComesFirstThoughAnotherOneIsFuller) {
  const model::Run run = TwoRanks().Load();
  const auto all = FindGrowthOfAll(classify::Analysis(run), {});
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ(all->front().spoken.text, "rank 1 (process 101), cuda:1");
  EXPECT_EQ(BytesPerStep(*all->front().growth), 96u);
  EXPECT_TRUE(all->back().growth->leaks.empty());
  const auto json = nlohmann::json::parse(ToJson(*all));
  EXPECT_EQ(json["rank"], 1);
  EXPECT_EQ(json["leaks"][0]["bytes_per_step"], 96);
  EXPECT_EQ(json["devices"][1]["rank"], 0);
}

TEST(GrowthOfAllTest, OneThatIsNamedIsAloneInTheAnswer) {
  const model::Run run = TwoRanks().Load();
  report::Request request;
  request.rank = 0;
  const auto all = FindGrowthOfAll(classify::Analysis(run), request);
  ASSERT_EQ(all->size(), 1u);
  EXPECT_EQ(all->front().spoken.device, "cuda:0");
}

TEST(GrowthOfAllTest, TooFewStepsAreSaidForEach) {
  const model::Run run = TwoRanks(2).Load();
  const auto all = FindGrowthOfAll(classify::Analysis(run), {});
  ASSERT_EQ(all->size(), 2u);
  EXPECT_FALSE(all->front().growth.ok());
}

}  // namespace
}  // namespace vramscope::leaks
