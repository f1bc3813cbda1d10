// SPDX-License-Identifier: Apache-2.0
// Oracles: classify::LiveAt, which goes over all blocks, and the sum of the changes themselves.
#include "viewer/model/live_index.h"

#include <gtest/gtest.h>

#include <random>

#include "profiler/classify/usage.h"
#include "profiler/model/testing/script.h"
#include "viewer/model/testing/training_document.h"

namespace vramscope::viewer {
namespace {

using model::EventIndex;

void ExpectTrue(const model::Run& run, const std::vector<EventIndex>& moments) {
  const LiveIndex index(run, 0);
  const auto live = classify::LiveAt(run, run.devices[0], moments);
  for (size_t i = 0; i < moments.size(); ++i) {
    ASSERT_EQ(index.At(moments[i]), live[i]) << "after event " << moments[i];
    LiveIndex::Totals truth;
    for (const model::Change& change : run.devices[0].changes) {
      if (change.event > moments[i]) break;
      const uint64_t size = run.blocks[change.block()].size;
      ++(change.freed() ? truth.frees : truth.allocations);
      (change.freed() ? truth.freed : truth.allocated) += size;
    }
    const LiveIndex::Totals totals = index.Until(moments[i]);
    ASSERT_EQ(totals.allocations, truth.allocations) << "after event " << moments[i];
    ASSERT_EQ(totals.allocated, truth.allocated) << "after event " << moments[i];
    ASSERT_EQ(totals.frees, truth.frees) << "after event " << moments[i];
    ASSERT_EQ(totals.freed, truth.freed) << "after event " << moments[i];
  }
}

TEST(LiveIndexTest, EveryMomentOfATrainingRunHasTheBlocksThatAPassOverAllFinds) {
  const model::Run run = TrainingRun(60'000);
  ASSERT_GT(run.devices[0].changes.size(), 30'000u);  // several checkpoints
  std::vector<EventIndex> moments = {0, 1, run.event_count() - 1, model::kNever - 1};
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i)
    moments.push_back(std::uniform_int_distribution<EventIndex>(0, run.event_count() - 1)(random));
  ExpectTrue(run, moments);
}

// A run in which nothing is freed for long: checkpoints stand further apart. Addresses that are handed out
// again while they are alive are a free and an allocation of one event.
TEST(LiveIndexTest, MomentsOfARandomRunHaveTheBlocksThatAPassOverAllFinds) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  model::testing::Script s;
  std::vector<std::string> live;
  for (int i = 0; i < 40'000; ++i) {
    const bool growing = i < 20'000;
    if (live.size() < 2 || random() % (growing ? 8 : 2) != 0) {
      if (live.size() > 1 && random() % 4 == 0) {
        s.Reusing(live.back());
        live.pop_back();
      }
      live.push_back("block" + std::to_string(i));
      s.Alloc(live.back(), 1 + random() % 4096);
    } else {
      std::swap(live[random() % live.size()], live.back());
      s.Free(live.back());
      live.pop_back();
    }
  }
  const model::Run run = s.Load();
  ASSERT_GT(run.anomalies.double_allocs, 1000u);
  std::vector<EventIndex> moments;
  for (int i = 0; i < 100; ++i)
    moments.push_back(std::uniform_int_distribution<EventIndex>(0, run.event_count() - 1)(random));
  ExpectTrue(run, moments);
}

}  // namespace
}  // namespace vramscope::viewer
