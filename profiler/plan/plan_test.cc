// SPDX-License-Identifier: Apache-2.0
// Plans for small recorded loops, against a search through every combination with the same judge.
#include "profiler/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "profiler/plan/module_search.h"
#include "profiler/plan/testing/loop.h"
#include "profiler/whatif/segments.h"

namespace vramscope::plan {
namespace {

using testing::BlockShape;
using testing::Loop;

// Every combination of settings with every set of modules, each replayed.
std::optional<Rank> CheapestOfAll(const Loop& loop, const Request& request) {
  whatif::Predictor predictor(loop.step(), loop.baseline());
  const std::vector<std::string> modules = whatif::CheckpointUnits(loop.step());
  std::optional<Rank> cheapest;
  for (const Changes& others : Combinations(loop.step(), request.levers)) {
    for (uint32_t set = 0; set < 1u << modules.size(); ++set) {
      Changes changes = others;
      std::string names;
      for (size_t i = 0; i < modules.size(); ++i) {
        if ((set >> i & 1) != 0) names += (names.empty() ? "" : ",") + modules[i];
      }
      if (!names.empty()) changes.push_back({"checkpoint", names});
      const whatif::Prediction prediction = predictor.Predict(changes).value();
      if (!prediction.refused.empty()) continue;
      if (prediction.band.ReservedAtMost(prediction.after.allocator.reserved_peak) > request.limit) continue;
      double ns = 0;
      for (const whatif::Applied& lever : prediction.levers) ns += lever.outcome.extra_ns;
      const Rank rank = RankOf(loop.step(), changes, ns);
      if (!cheapest || rank < *cheapest) cheapest = rank;
    }
  }
  return cheapest;
}

TEST(PlanTest, TheCheapestPlanIsTheBestOfAllCombinations) {
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    std::mt19937 random(seed);
    std::vector<BlockShape> blocks(3);
    for (BlockShape& block : blocks) {
      block.features = 32768 * (1 + random() % 8);
      block.operators = 1 + static_cast<int>(random() % 9);
    }
    const Loop loop(blocks);
    const uint64_t reserved = loop.baseline().use.allocator.reserved_peak;
    std::vector<std::string> levers = {"checkpoint", "alloc-conf", "optimizer"};
    levers.emplace_back(seed % 2 == 0 ? "batch" : "accumulate");
    for (const double share : {0.95, 0.8, 0.6, 0.4}) {
      const Request request{static_cast<uint64_t>(share * static_cast<double>(reserved)), levers, 1};
      const std::optional<Rank> best = CheapestOfAll(loop, request);
      const Answer answer = MakePlans(loop.step(), loop.baseline(), request);
      ASSERT_EQ(answer.plans.empty(), !best) << "seed " << seed << ", " << share;
      EXPECT_TRUE(answer.complete);
      if (!best) continue;
      const Rank& found = answer.plans.front().verdict.rank;
      EXPECT_EQ(found.open, best->open) << "seed " << seed << ", " << share;
      EXPECT_NEAR(found.extra_ns, best->extra_ns, 1e-3) << "seed " << seed << ", " << share;
      EXPECT_EQ(found.depth, best->depth) << "seed " << seed << ", " << share;
      EXPECT_LE(answer.plans.front().verdict.needed, request.limit);
    }
  }
}

}  // namespace
}  // namespace vramscope::plan
