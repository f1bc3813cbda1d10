// SPDX-License-Identifier: Apache-2.0
// Oracle: loops written in PyTorch's order of operations. Each interval has the name that its author would
// give it.
#include "profiler/timeline/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "profiler/timeline/testing/loop.h"

namespace vramscope::timeline {
namespace {

using model::testing::Script;
using testing::Loop;
using trace::MarkKind;
using trace::RangeKind;

// "0:other 1:data 1:prepare 1:forward 1:backward 1:optimizer": the step and part of each span.
std::string Story(const Training& training) {
  static constexpr const char* kParts[] = {"other",      "data",     "prepare", "forward",
                                           "evaluation", "backward", "update",  "optimizer"};
  std::string story;
  for (const Span& span : training.spans()) {
    if (!story.empty()) story += ' ';
    story += std::to_string(span.step) + ":" + kParts[static_cast<size_t>(span.part)];
  }
  return story;
}

std::string StoryOf(const Script& script) {
  const auto run = script.Load();
  return Story(FindTraining(run, 0));
}

TEST(TrainingTest, ASimpleLoopIsFoundWithoutAnyAnnotation) {
  Loop loop;
  loop.Work();  // building the model
  for (int step = 0; step < 2; ++step) {
    loop.Data();
    loop.Work();  // batch.to(device)
    loop.Forward();
    loop.Backward();
    loop.Optimizer();
  }
  loop.Work();  // saving
  EXPECT_EQ(StoryOf(loop.s),
            "0:other 1:data 1:prepare 1:forward 1:backward 1:update 1:optimizer "
            "2:other 2:data 2:prepare 2:forward 2:backward 2:update 2:optimizer 0:other");
}

TEST(TrainingTest, BatchesMadeByHandLeaveSetupToTheTimeBeforeStepOne) {
  Loop loop;
  loop.Work();
  for (int step = 0; step < 2; ++step) {
    loop.Forward();
    loop.Backward();
    loop.Optimizer();
  }
  const auto run = loop.s.Load();
  const Training training = FindTraining(run, 0);
  EXPECT_EQ(Story(training),
            "0:prepare 1:forward 1:backward 1:update 1:optimizer "
            "2:prepare 2:forward 2:backward 2:update 2:optimizer 0:other");
  ASSERT_EQ(training.steps().size(), 2u);
  EXPECT_EQ(training.steps()[0].end, training.steps()[1].begin);
  EXPECT_TRUE(training.steps()[1].complete);
}

TEST(TrainingTest, FourMicroBatchesAreOneStep) {
  Loop loop;
  loop.Work();
  for (int step = 0; step < 2; ++step) {
    for (int micro = 0; micro < 4; ++micro) {
      loop.Data();
      loop.Forward();
      loop.Backward();
    }
    loop.Optimizer();
  }
  const auto run = loop.s.Load();
  const Training training = FindTraining(run, 0);
  EXPECT_EQ(training.steps().size(), 2u);
  EXPECT_THAT(
      Story(training),
      ::testing::StartsWith(
          "0:other 1:data 1:prepare 1:forward 1:backward 1:other 1:data 1:prepare 1:forward 1:backward "
          "1:other "
          "1:data 1:prepare 1:forward 1:backward 1:other 1:data 1:prepare 1:forward 1:backward 1:update "
          "1:optimizer 2:other"));
}

TEST(TrainingTest, AGanStepEndsAfterTheGenerator) {
  Loop loop;
  loop.Work();
  for (int step = 0; step < 3; ++step) {
    loop.Data();
    for (const uint64_t optimizer : {1, 2}) {
      loop.Forward();
      loop.Backward();
      loop.Optimizer(optimizer);
    }
  }
  const auto run = loop.s.Load();
  const Training training = FindTraining(run, 0);
  ASSERT_EQ(training.steps().size(), 3u);
  EXPECT_THAT(Story(training),
              ::testing::StartsWith(
                  "0:other 1:data 1:prepare 1:forward 1:backward 1:update 1:optimizer "
                  "1:prepare 1:forward 1:backward 1:update 1:optimizer 2:other 2:data 2:prepare 2:forward"));
}

TEST(TrainingTest, FiveDiscriminatorStepsForOneOfTheGeneratorAreOneStep) {
  Loop loop;
  for (int step = 0; step < 3; ++step) {
    for (const uint64_t optimizer : {1, 1, 1, 1, 1, 2}) {
      loop.Data();
      loop.Forward();
      loop.Backward();
      loop.Optimizer(optimizer);
    }
  }
  EXPECT_EQ(FindTraining(loop.s.Load(), 0).steps().size(), 3u);
}

TEST(TrainingTest, LoopsAfterEachOtherHaveStepsOfTheirOwn) {
  Loop loop;
  for (const uint64_t optimizer : {1, 1, 1, 2, 2}) {
    loop.Forward();
    loop.Backward();
    loop.Optimizer(optimizer);
  }
  EXPECT_EQ(FindTraining(loop.s.Load(), 0).steps().size(), 5u);
}

// A GAN is trained twice, with new optimizers: the second discriminator's optimizer gets the address of the
// first generator's, and vice versa.
TEST(TrainingTest, AnOptimizerWhereAnotherOneLayIsNotTheSame) {
  Loop loop;
  for (const auto& optimizers : {std::array<uint64_t, 2>{1, 2}, std::array<uint64_t, 2>{2, 1}}) {
    for (uint64_t step = 1; step <= 3; ++step) {
      for (const uint64_t optimizer : optimizers) {
        loop.Forward();
        loop.Backward();
        loop.Optimizer(optimizer);
        loop.s.Mark(MarkKind::kOptimizerStepDone, step, "Adam", optimizer);
      }
    }
  }
  const auto run = loop.s.Load();
  const Training training = FindTraining(run, 0);
  ASSERT_EQ(training.steps().size(), 6u);
  for (uint32_t number = 1; number <= 6; ++number) {
    EXPECT_EQ(std::count_if(
                  training.spans().begin(), training.spans().end(),
                  [number](const Span& span) { return span.step == number && span.part == Part::kBackward; }),
              2)
        << "step " << number;
  }
}

// Out of memory in the optimizer; the program catches it and goes on with the next batch.
TEST(TrainingTest, AStepThatRaisedIsNoStep) {
  for (const bool first : {true, false}) {
    Loop loop;
    loop.s.Coverage("python.optimizer", trace::CoverageState::kProven);
    uint64_t finished = 0;
    for (int step = 0; step < 4; ++step) {
      loop.Forward();
      loop.Backward();
      loop.Optimizer(1);
      const bool raised = step == (first ? 0 : 2);
      if (!raised) loop.s.Mark(MarkKind::kOptimizerStepDone, ++finished, "Adam", 1);
    }
    EXPECT_EQ(FindTraining(loop.s.Load(), 0).steps().size(), 3u) << first;
  }
}

TEST(TrainingTest, EvaluationBetweenStepsIsForwardThatLeadsNowhere) {
  Loop loop;
  loop.Work();
  for (int step = 0; step < 2; ++step) {
    if (step == 1) {
      loop.Evaluate();
      loop.Evaluate();
    }
    loop.Data();
    loop.Forward();
    loop.Backward();
    loop.Optimizer();
  }
  loop.Evaluate();
  EXPECT_EQ(
      StoryOf(loop.s),
      "0:other 1:data 1:prepare 1:forward 1:backward 1:update 1:optimizer 2:other "
      "2:data 2:evaluation 2:data 2:evaluation 2:data 2:prepare 2:forward 2:backward 2:update 2:optimizer "
      "0:other 0:data 0:evaluation");
}

TEST(TrainingTest, LbfgsGoesForwardAndBackwardInsideItsStep) {
  Loop loop;
  loop.Work();
  for (int step = 0; step < 2; ++step) {
    loop.Data();
    loop.s.Optimizer("LBFGS", [&] {
      for (int closure = 0; closure < 2; ++closure) {
        loop.Work();
        loop.Forward();
        loop.Backward();
      }
      loop.Work();
    });
  }
  EXPECT_EQ(StoryOf(loop.s),
            "0:other 1:data 1:prepare "
            "1:optimizer 1:forward 1:backward 1:optimizer 1:forward 1:backward 1:optimizer "
            "2:other 2:data 2:prepare "
            "2:optimizer 2:forward 2:backward 2:optimizer 2:forward 2:backward 2:optimizer 0:other");
}

TEST(TrainingTest, WithoutOptimizerEachBackwardPassEndsAStep) {
  Loop loop;
  for (int step = 0; step < 3; ++step) {
    loop.Forward();
    loop.Backward();
  }
  const Training training = FindTraining(loop.s.Load(), 0);
  EXPECT_EQ(training.steps().size(), 3u);
  EXPECT_EQ(training.step_source(), StepEnds::Source::kBackwardWindows);
}

TEST(TrainingTest, MarksOfFinishedStepsServeWhereNoWindowWasRecorded) {
  Loop loop;
  for (int step = 0; step < 2; ++step) {
    for (int micro = 0; micro < 2; ++micro) {
      loop.Forward();
      loop.Backward();
    }
    loop.Work();
    loop.s.Mark(MarkKind::kOptimizerStepDone, step + 1, "Adam");
  }
  loop.Work();
  const Training training = FindTraining(loop.s.Load(), 0);
  EXPECT_EQ(training.steps().size(), 2u);
  EXPECT_EQ(training.spans().back().step, 0u);
}

TEST(TrainingTest, AStepOfTheOptimizerThatRaisedEndsNothing) {
  Loop loop;
  const auto go = [&](uint64_t number) {
    loop.Forward();
    loop.Backward();
    loop.Optimizer();
    if (number != 0) loop.s.Mark(MarkKind::kOptimizerStepDone, number, "Adam", 1);
  };
  go(1);
  go(0);
  go(2);
  const auto run = loop.s.Load();
  ASSERT_EQ(FindTraining(run, 0).steps().size(), 2u);
  EXPECT_LT(run.marks[0].event, FindTraining(run, 0).StepNumber(1)->end + 2);
}

TEST(TrainingTest, AFirstStepThatRaisedIsNotFinished) {
  Loop loop;
  loop.s.Coverage("python.optimizer", trace::CoverageState::kProven);
  loop.Forward();
  loop.Backward();
  loop.Optimizer();
  const auto run = loop.s.Load();
  const Training training = FindTraining(run, 0);
  ASSERT_EQ(training.steps().size(), 1u);
  EXPECT_FALSE(training.steps()[0].complete);
}

TEST(TrainingTest, AnOptimizerThatRunsInsideBackwardEndsItsStepWithThatPass) {
  Loop loop;
  for (int step = 0; step < 2; ++step) {
    loop.Forward();
    loop.s.Backward([&] {
      loop.Work();
      loop.Optimizer(1);
      loop.Work();
      loop.Optimizer(2);
      loop.Work();
    });
  }
  EXPECT_EQ(StoryOf(loop.s),
            "0:prepare 1:forward 1:backward 1:optimizer 1:backward 1:optimizer 1:backward "
            "2:prepare 2:forward 2:backward 2:optimizer 2:backward 2:optimizer 2:backward 0:other");
}

TEST(TrainingTest, ARunThatIsCutOffInBackwardHasAnUnfinishedLastStep) {
  Loop loop;
  loop.Forward();
  loop.Backward();
  loop.Optimizer();
  loop.Forward();
  loop.s.Event(trace::EventType::kRangeBegin, {static_cast<uint64_t>(RangeKind::kBackward), 0, 0});
  loop.Work();
  const Training training = FindTraining(loop.s.Load(), 0);
  ASSERT_EQ(training.steps().size(), 2u);
  EXPECT_FALSE(training.steps()[1].complete);
  EXPECT_EQ(PhaseOf(training.spans().back().part), Phase::kBackward);
}

TEST(TrainingTest, ARunThatDiesInItsFirstForwardDiedInStepOne) {
  Loop loop;
  loop.Work();
  loop.Forward();
  const Training training = FindTraining(loop.s.Load(), 0);
  ASSERT_EQ(training.steps().size(), 1u);
  EXPECT_FALSE(training.steps()[0].complete);
}

TEST(TrainingTest, ALoaderThatPrefetchesOnAnotherThreadDoesNotInterruptTheTraining) {
  Loop loop;
  loop.Forward();
  loop.s.Thread("prefetch")
      .Event(trace::EventType::kRangeBegin, {static_cast<uint64_t>(RangeKind::kDataLoader), 0, 0});
  loop.s.Alloc("next batch", 8).Thread("main");
  loop.Backward();
  loop.Optimizer();
  loop.s.Thread("prefetch")
      .Event(trace::EventType::kRangeEnd, {static_cast<uint64_t>(RangeKind::kDataLoader), 0, 0});
  const auto run = loop.s.Load();
  const Training training = FindTraining(run, 0);
  EXPECT_EQ(Story(training), "0:prepare 1:forward 1:backward 1:update 1:optimizer 0:other");
  const auto& batch = run.blocks[loop.s.Id("next batch")];
  EXPECT_EQ(training.PartOf(batch.thread, batch.alloc_event), Part::kData);
  EXPECT_EQ(training.PartOf(0, batch.alloc_event), Part::kForward);
}

TEST(TrainingTest, AProcessThatOnlyInfersHasPhasesButNoSteps) {
  Loop loop;
  loop.s.Module("net", [&] { loop.Work(); });
  loop.Evaluate();
  EXPECT_EQ(StoryOf(loop.s), "0:evaluation 0:other 0:data 0:evaluation");
}

TEST(TrainingTest, AnEmptyTraceIsOneSpanOfNothing) {
  Script s;
  EXPECT_EQ(StoryOf(s), "0:other");
}

TEST(TrainingTest, AMillionNestedBackwardPassesAreOneThatNeverEnds) {
  Script s;
  for (int i = 0; i < 1'000'000; ++i) s.RangeBegin(RangeKind::kBackward, "");
  const auto run = s.Load();
  const Training training = FindTraining(run, 0);
  ASSERT_EQ(training.steps().size(), 1u);
  EXPECT_EQ(training.SpanAt(999'999).part, Part::kBackward);
}

}  // namespace
}  // namespace vramscope::timeline
