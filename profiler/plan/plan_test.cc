// SPDX-License-Identifier: Apache-2.0
// Plans for small recorded loops. Oracle: a search through every combination with the same judge.
#include "profiler/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "profiler/plan/largest_batch.h"
#include "profiler/plan/module_search.h"
#include "profiler/plan/rerun_plans.h"
#include "profiler/whatif/step/segments.h"
#include "profiler/whatif/testing/block_loop.h"

namespace vramscope::plan {
namespace {

using whatif::BlockLoop;
using whatif::BlockShape;

// Floats per sample: tensors of 16 MiB, so that more than the band's 20 MiB counts.
constexpr uint64_t kUnit = 524'288;

// Replays every combination of settings with every set of modules.
std::optional<Rank> CheapestOfAll(const BlockLoop& loop, const Request& request) {
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
  int found_some = 0, with_modules = 0;
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    std::mt19937 random(seed);
    // Every second loop has more blocks, and only checkpoints free much.
    const bool deep = seed % 2 == 1;
    std::vector<BlockShape> blocks(deep ? 8 : 3);
    for (BlockShape& block : blocks) {
      block.features = kUnit * (1 + random() % 8);
      block.operators = 1 + static_cast<int>(random() % 9);
    }
    const BlockLoop loop(blocks);
    const uint64_t reserved = loop.baseline().use.allocator.reserved_peak;
    std::vector<std::string> levers = {"checkpoint", "alloc-conf"};
    if (!deep) levers.insert(levers.end(), {"optimizer", "empty-cache"});
    for (const double share : deep ? std::vector{0.98, 0.95, 0.92, 0.88} : std::vector{0.95, 0.8, 0.6, 0.4}) {
      const Request request{static_cast<uint64_t>(share * static_cast<double>(reserved)), levers, 1};
      const std::optional<Rank> best = CheapestOfAll(loop, request);
      const Answer answer = MakePlans(loop.step(), loop.baseline(), request);
      ASSERT_EQ(answer.plans.empty(), !best) << "seed " << seed << ", " << share;
      EXPECT_TRUE(answer.complete);
      if (!best) continue;
      ++found_some;
      with_modules += best->modules > 0 ? 1 : 0;
      const Rank& found = answer.plans.front().verdict.rank;
      EXPECT_EQ(found.open, best->open) << "seed " << seed << ", " << share;
      EXPECT_NEAR(found.extra_ns, best->extra_ns, 1e-3) << "seed " << seed << ", " << share;
      EXPECT_EQ(found.depth, best->depth) << "seed " << seed << ", " << share;
      EXPECT_LE(answer.plans.front().verdict.needed, request.limit);
    }
  }
  EXPECT_GE(found_some, 6);
  EXPECT_GE(with_modules, 3);
}

TEST(PlanTest, WithManyModulesTheChoiceIsWithinTwoPercentOfTheBest) {
  int with_modules = 0;
  for (uint32_t seed = 7; seed < 10; ++seed) {
    std::mt19937 random(seed);
    std::vector<BlockShape> blocks(kMostExactModules + 1);
    for (BlockShape& block : blocks) block = {kUnit * (1 + random() % 8), 1 + static_cast<int>(random() % 9)};
    const BlockLoop loop(blocks);
    const uint64_t reserved = loop.baseline().use.allocator.reserved_peak;
    // Between the loop's use and the least that checkpoints can reach, by their published error.
    const uint64_t least = MakePlans(loop.step(), loop.baseline(), {1, {"checkpoint"}, 1}).floor.needed;
    ASSERT_LT(least, reserved) << "seed " << seed;
    const Request request{least + (reserved - least) / 3, {"checkpoint"}, 1};
    const Answer answer = MakePlans(loop.step(), loop.baseline(), request);
    ASSERT_EQ(answer.plans.size(), 1u);
    const Plan& plan = answer.plans.front();
    const std::optional<Rank> best = CheapestOfAll(loop, request);
    ASSERT_TRUE(best);
    with_modules += best->modules > 1 ? 1 : 0;
    EXPECT_LE(plan.verdict.needed, request.limit);
    EXPECT_LE(plan.least_ns, best->extra_ns + 1e-3) << "seed " << seed;
    EXPECT_LE(plan.verdict.rank.extra_ns, 1.02 * best->extra_ns) << "seed " << seed;
    if (plan.exact) {
      EXPECT_NEAR(plan.verdict.rank.extra_ns, best->extra_ns, 1e-3) << "seed " << seed;
    }
  }
  EXPECT_GT(with_modules, 0);
}

TEST(PlanTest, WhatFitsAlreadyNeedsNothing) {
  const BlockLoop loop({{2 * kUnit, 2}, {3 * kUnit, 3}});
  const Answer answer = MakePlans(loop.step(), loop.baseline(), {1ull << 40, UsualLevers()});
  EXPECT_TRUE(answer.fits_already);
  ASSERT_EQ(answer.plans.size(), 1u);
  EXPECT_TRUE(answer.plans.front().verdict.changes.empty());
}

TEST(PlanTest, WhenNothingFitsTheLeastIsTold) {
  const BlockLoop loop({{4 * kUnit, 2}, {2 * kUnit, 8}, {4 * kUnit, 5}});
  const Answer answer = MakePlans(loop.step(), loop.baseline(), {1 << 20, UsualLevers()});
  EXPECT_TRUE(answer.plans.empty());
  EXPECT_TRUE(answer.floor.replayed);
  EXPECT_GT(answer.floor.needed, 1u << 20);
  EXPECT_LT(answer.floor.needed, loop.baseline().use.allocator.reserved_peak);
}

TEST(PlanTest, PlansComeInTheOrderOfTheirCostAndNoneNeedsTheLeversOfACheaperOne) {
  const BlockLoop loop({{4 * kUnit, 2}, {2 * kUnit, 8}, {4 * kUnit, 5}});
  const uint64_t reserved = loop.baseline().use.allocator.reserved_peak;
  const Answer answer = MakePlans(loop.step(), loop.baseline(), {reserved * 9 / 10, UsualLevers(), 5});
  ASSERT_GE(answer.plans.size(), 2u);
  for (size_t i = 1; i < answer.plans.size(); ++i) {
    const Verdict& cheaper = answer.plans[i - 1].verdict;
    const Verdict& dearer = answer.plans[i].verdict;
    EXPECT_FALSE(dearer.rank < cheaper.rank) << TextOf(dearer.changes);
    EXPECT_FALSE(std::all_of(cheaper.changes.begin(), cheaper.changes.end(), [&](const whatif::Asked& one) {
      return std::any_of(dearer.changes.begin(), dearer.changes.end(),
                         [&](const whatif::Asked& other) { return other.lever == one.lever; });
    })) << TextOf(dearer.changes);
  }
}

// Stands in for PyTorch: reserved bytes grow with the batch, and checkpoints halve them.
class MadeReruns final : public Reruns {
 public:
  Result<uint64_t> BatchSize() override { return BlockLoop::kSamples; }
  Result<whatif::Prediction> Predict(std::span<const whatif::Asked> changes) override {
    whatif::Prediction prediction;
    prediction.after.allocator.reserved_peak = Needed(changes);
    return prediction;
  }
  static uint64_t Needed(std::span<const whatif::Asked> changes) {
    uint64_t samples = BlockLoop::kSamples, each = 10 << 20;
    for (const whatif::Asked& change : changes) {
      if (change.lever == "batch") samples = std::stoull(change.value);
      if (change.lever == "checkpoint" || change.lever == "amp") each /= 2;
      if (change.lever == "accumulate") samples /= std::stoull(change.value);
    }
    return (100 << 20) + samples * each;
  }
};

TEST(PlanTest, TheLargestBatchOfEachRowFitsAndOneSampleMoreDoesNot) {
  const BlockLoop loop({{4 * kUnit, 2}, {2 * kUnit, 8}, {4 * kUnit, 5}});
  const uint64_t limit = 1ull << 30;
  MadeReruns reruns;
  const auto found = FindLargestBatches(loop.step(), {limit, UsualLevers()}, &reruns);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->recorded, BlockLoop::kSamples);
  ASSERT_EQ(found->rows.size(), 2u) << "another setting of the allocator allows no larger one";
  for (const LargestBatch& row : found->rows) {
    const auto needed = [&](uint64_t size) {
      Changes changes = row.others;
      changes.push_back({"batch", std::to_string(size)});
      return MadeReruns::Needed(changes);
    };
    EXPECT_LE(needed(row.size), limit);
    EXPECT_GT(needed(row.size + 1), limit);
  }
  EXPECT_GT(found->rows[1].size, found->rows[0].size);
}

TEST(PlanTest, ReRunsAddPlansOfTheLeastChangeThatFits) {
  const BlockLoop loop({{4 * kUnit, 2}});
  MadeReruns reruns;
  Request request{(100 << 20) + (BlockLoop::kSamples * 5 << 20) + (20 << 20), UsualLevers(), 5};
  request.levers.emplace_back("amp");
  Answer answer;
  AddRerunPlans(loop.step(), request, reruns, answer);
  ASSERT_EQ(answer.plans.size(), 2u);
  EXPECT_EQ(TextOf(answer.plans[0].verdict.changes), "accumulate=2");
  EXPECT_EQ(TextOf(answer.plans[1].verdict.changes), "amp=bf16");
  request.limit = (100 << 20) + (BlockLoop::kSamples * 5 / 2 << 20) + (2 << 20);
  answer.plans.clear();
  AddRerunPlans(loop.step(), request, reruns, answer);
  ASSERT_EQ(answer.plans.size(), 2u);
  EXPECT_EQ(TextOf(answer.plans[1].verdict.changes), "amp=bf16 checkpoint=all");
}

TEST(PlanTest, WithoutReRunsNoLargestBatchIsGuessed) {
  const BlockLoop loop({{4 * kUnit, 2}});
  const auto found = FindLargestBatches(loop.step(), {1ull << 30, UsualLevers()}, nullptr);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().sentence, ::testing::HasSubstr("re-run"));
}

TEST(PlanTest, WhatOnlyAReRunAnswersIsNotSearched) {
  const BlockLoop loop({{2 * kUnit, 2}, {3 * kUnit, 3}});
  for (const Changes& changes : Combinations(loop.step(), AllLevers())) {
    for (const whatif::Asked& change : changes)
      EXPECT_NE(whatif::AnsweredHow(change.lever, change.value), whatif::AnsweredBy::kRerun) << change.lever;
  }
}

TEST(RankTest, TimeComesFirstThenHowDeepTheChangeGoes) {
  const BlockLoop loop({{2 * kUnit, 2}, {3 * kUnit, 3}});  // trained by SGD
  const auto rank = [&](const Changes& changes, double ns) { return RankOf(loop.step(), changes, ns); };
  EXPECT_LT(rank({{"amp", "bf16"}}, 0), rank({{"alloc-conf", "x"}}, 1));
  EXPECT_LT(rank({{"alloc-conf", "x"}, {"empty-cache", "x"}, {"checkpoint", "all"}}, 0),
            rank({{"accumulate", "2"}}, 0));
  EXPECT_LT(rank({{"batch", "2"}}, 0), rank({{"amp", "bf16"}}, 0));
  EXPECT_LT(rank({{"optimizer", "sgd"}}, 0), rank({{"checkpoint", "all"}}, 0)) << "the same optimizer";
  EXPECT_LT(rank({{"batch", "1"}}, 1e9), rank({{"optimizer", "adamw"}}, 0)) << "nobody knows how many steps";
  EXPECT_LT(rank({{"checkpoint", "all"}}, 5), rank({{"checkpoint", "a,b"}}, 5));
}

// A replay stops when it exceeds the limit; a larger limit replays again.
TEST(JudgeTest, AReplayThatIsCutShortSaysThatItIsTooMuchAndNothingElse) {
  const BlockLoop loop({{kUnit * 4, 2}, {kUnit * 4, 5}});
  whatif::Predictor predictor(loop.step(), loop.baseline());
  const Changes changes = {{"checkpoint", "all"}};
  const Verdict whole = Judge(predictor, kUsualWork).Of(changes, UINT64_MAX);
  ASSERT_TRUE(whole.replayed);
  Judge judge(predictor, kUsualWork);
  const uint64_t live = judge.LiveOf(changes).at_least;
  ASSERT_LT(live, whole.needed) << "else no replay is needed to see that";
  const Verdict& short_one = judge.Of(changes, whole.needed - 1);
  EXPECT_TRUE(short_one.replayed && short_one.cut_short);
  EXPECT_GT(short_one.needed, whole.needed - 1);
  EXPECT_EQ(judge.replays(), 1u);
  (void)judge.Of(changes, whole.needed - 1);
  EXPECT_EQ(judge.replays(), 1u) << "the answer is known";
  const Verdict& again = judge.Of(changes, whole.needed);
  EXPECT_FALSE(again.cut_short);
  EXPECT_EQ(again.needed, whole.needed);
  EXPECT_EQ(judge.replays(), 2u);
}

TEST(PlanTest, ASearchThatIsStoppedReplaysNoMore) {
  const BlockLoop loop({{kUnit * 4, 2}, {kUnit * 4, 5}});
  const std::atomic<bool> stop = true;
  const Answer answer = MakePlans(loop.step(), loop.baseline(), {1 << 20, AllLevers(), 3, kUsualWork, &stop});
  EXPECT_TRUE(answer.plans.empty());
  EXPECT_FALSE(answer.complete);
  EXPECT_EQ(answer.replays, 1u);  // of the unchanged program
}

}  // namespace
}  // namespace vramscope::plan
