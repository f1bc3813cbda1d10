// SPDX-License-Identifier: Apache-2.0
// Oracle: steps that run as one graph, with the phases in the order in which their author would name them.
#include "profiler/timeline/graph_phases.h"

#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"
#include "profiler/timeline/training.h"

namespace vramscope::timeline {
namespace {

using model::testing::Script;

constexpr uint64_t kNone = 0, kForward = 1, kBackward = 2, kOptimizer = 3;
constexpr uint64_t kAdam = 7;

void Enter(Script& s, uint64_t phase) {
  s.Event(trace::EventType::kCounter, {s.trace().Intern("step.phase"), phase, 0});
}

// One step, up to the mark of its end.
void RunGraph(Script& s) {
  Enter(s, kForward);
  s.Alloc("hidden", 64);
  Enter(s, kBackward);
  s.Alloc("gradient", 32).Free("hidden");
  Enter(s, kOptimizer);
  s.Alloc("square", 32).Free("square");
  Enter(s, kBackward);  // of the layer before, whose gradient is ready later
  s.Alloc("first gradient", 32).Free("gradient");
  Enter(s, kOptimizer);
  s.Free("first gradient");
  Enter(s, kNone);
}

void Step(Script& s, uint64_t number) {
  RunGraph(s);
  s.Mark(trace::MarkKind::kOptimizerStepDone, number, "Adam", kAdam);
}

TEST(GraphPhasesTest, BackwardAndOptimizerOfAGraphAreWindowsThatAlternate) {
  Script s;
  Step(s, 1);
  const auto run = s.Load();
  std::string story;
  for (const Window& window : FindGraphPhases(run, 0).windows) story += window.optimizer ? 'o' : 'b';
  EXPECT_EQ(story, "bobo");
  EXPECT_EQ(FindGraphPhases(run, 0).forward.size(), 1U);
}

TEST(GraphPhasesTest, AStepOfAGraphIsCountedOnceByItsMark) {
  Script s;
  s.Alloc("weights", 512);
  for (uint64_t number = 1; number <= 3; ++number) {
    s.Alloc("batch", 16);
    Step(s, number);
    s.Free("batch");
  }
  const auto run = s.Load();
  const Training training = FindTraining(run, 0);
  EXPECT_EQ(training.steps().size(), 3U);
  std::string parts;
  for (const Span& span : training.spans()) {
    if (span.step == 2) parts += std::string(PhaseName(PhaseOf(span.part))) + ' ';
  }
  // First the batch, last the mark itself.
  EXPECT_EQ(parts, "other forward backward optimizer backward optimizer other ");
}

TEST(GraphPhasesTest, AFirstStepThatFailsIsOneStepThatIsNotFinished) {
  Script s;
  s.Alloc("weights", 512);
  RunGraph(s);
  const auto run = s.Load();
  const Training training = FindTraining(run, 0);
  ASSERT_EQ(training.steps().size(), 1U);
  EXPECT_FALSE(training.steps()[0].complete);
}

TEST(GraphPhasesTest, OtherCountersAreNoPhases) {
  Script s;
  s.Event(trace::EventType::kCounter, {s.trace().Intern("host.rss"), 2, 0});
  s.Alloc("a", 8);
  const auto run = s.Load();
  EXPECT_TRUE(FindGraphPhases(run, 0).windows.empty());
}

}  // namespace
}  // namespace vramscope::timeline
