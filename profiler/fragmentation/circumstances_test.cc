// SPDX-License-Identifier: Apache-2.0
// Oracle: each program keeps, loses or still needs the memory that the test's name states.
#include "profiler/fragmentation/circumstances.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"

namespace vramscope::fragmentation {
namespace {

using model::testing::Script;
using trace::LabelSource;
using trace::Role;

void Fail(Script& s, uint64_t bytes) {
  s.Event(trace::EventType::kOutOfMemory, {bytes, 0, 0, model::testing::kCuda0, 0});
}

Script OnGpu() {
  Script s;
  s.Device(model::testing::kCuda0);
  s.Alloc("weight", 400).Parameter("weight", "fc.weight");
  return s;
}

void Step(Script& s) {
  s.Alloc("hidden", 128).Saved("hidden");
  s.Backward([&] { s.Alloc("grad", 400).Gradient("grad", "weight").Released("hidden").Free("hidden"); });
  s.Optimizer("SGD", [&] {});
  s.Free("grad");
}

// The circumstances of the last failure.
Circumstances Around(const Script& s, uint64_t requested) {
  const model::Run run = s.Load();
  const classify::Analysis analysis(run);
  return CircumstancesOf(analysis, 0, run.out_of_memory.back().event, requested);
}

TEST(CircumstancesTest, WhatEachStepKeepsIsGrowthWithTheStepsThatAreLeft) {
  Script s = OnGpu();
  for (int step = 1; step <= 6; ++step) {
    Step(s);
    s.Alloc("kept" + std::to_string(step), 1000);
  }
  s.Alloc("hidden", 128).Saved("hidden");
  Fail(s, 512);
  const Circumstances found = Around(s, 512);
  ASSERT_EQ(found.growth.size(), 1u);
  EXPECT_EQ(found.growth[0].every, 1u);
  EXPECT_EQ(found.growth[0].first_step, 1u) << "allocated when step 1 had ended";
  EXPECT_EQ(found.grown, 6000u);
  EXPECT_EQ(found.grows_per_step, 1000u);
  EXPECT_EQ(found.needed_beside, 400u + 128 + 512);
  EXPECT_EQ(found.StepsMore(found.needed_beside + 6000), 0u);
  EXPECT_EQ(found.StepsMore(found.needed_beside + 8500), 2u);
  EXPECT_EQ(found.left_by_failures, 0u);
}

TEST(CircumstancesTest, WhatAFailedAttemptMadeIsCountedWhileItIsThere) {
  Script s = OnGpu();
  Step(s);
  for (const std::string attempt : {"kept", "freed"}) {
    s.Alloc(attempt, 300).Saved(attempt);
    Fail(s, 5000);
    if (attempt == "freed") s.Released(attempt).Free(attempt);
  }
  s.Alloc("hidden", 128).Saved("hidden");
  Fail(s, 200);
  const Circumstances found = Around(s, 200);
  EXPECT_EQ(found.left_by_failures, 300u);
  EXPECT_EQ(found.failures, 1u);
}

// Adam creates two tensors for each of four parameters and fails at the second tensor of the second
// parameter.
TEST(CircumstancesTest, TheStateThatAnOptimizerStillMakesFollowsFromItsParameters) {
  Script s;
  s.Device(model::testing::kCuda0);
  for (const std::string p : {"a", "b", "c", "frozen"}) s.Alloc(p, 400).Parameter(p, p + ".weight");
  s.Alloc("hidden", 128).Saved("hidden");
  s.Backward([&] {
    for (const std::string p : {"a", "b", "c"}) s.Alloc("grad of " + p, 400).Gradient("grad of " + p, p);
    s.Released("hidden").Free("hidden");
  });
  s.Optimizer("Adam", [&] {
    for (const std::string state : {"exp_avg of a", "exp_avg_sq of a", "exp_avg of b"}) s.Alloc(state, 400);
    Fail(s, 400);
  });
  for (const std::string state : {"exp_avg of a", "exp_avg_sq of a", "exp_avg of b"})
    s.Label(state, Role::kOptimizerState, LabelSource::kOptimizer, state + ".weight");
  const Circumstances found = Around(s, 400);
  EXPECT_EQ(found.upcoming, (std::vector<uint64_t>{400, 400})) << "both of c; that of b is what failed";
  EXPECT_EQ(found.upcoming_of, "exp_avg, exp_avg_sq of 2 parameters");
}

}  // namespace
}  // namespace vramscope::fragmentation
