// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/parts.h"

#include <gtest/gtest.h>

#include "profiler/fleet/summary_file.h"
#include "profiler/fleet/testing/rank_script.h"

namespace vramscope::fleet {
namespace {

using testing::RankScript;

// Oracle: the summary of the whole recording.
RankSummary Whole() {
  RankScript script(1);
  script.PlantFaultOfRank();  // a long batch from step 5 on
  const model::Run run = model::Load(script.Write()).value();
  return Summarize(classify::Analysis(run), "run.vms").front();
}

// The summary of one part, with steps `first` to `last` of the whole recording.
RankSummary Part(const RankSummary& whole, uint32_t number, uint32_t first, uint32_t last) {
  RankSummary part = whole;
  part.part = number;
  part.ending = Ending::kUnknown;
  part.ending_step = last;
  std::erase_if(part.steps,
                [&](const StepFigures& step) { return step.number < first || step.number > last; });
  part.peak_bytes = 0;
  for (const StepFigures& step : part.steps) {
    if (step.peak_bytes <= part.peak_bytes) continue;
    part.peak_bytes = step.peak_bytes;
    part.peak_step = step.number;
  }
  return part;
}

TEST(PartsTest, PartsInAnyOrderGiveWhatTheWholeRecordingGives) {
  const RankSummary whole = Whole();
  RankSummary last = Part(whole, 3, 8, 10);
  last.ending = whole.ending;
  RankSummary other = whole;
  other.pid += 1;
  std::vector<RankSummary> ranks = {last, other, Part(whole, 1, 1, 4), Part(whole, 2, 4, 8)};
  JoinParts(ranks);
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[0].part, 0u) << "a whole recording stays as it is";
  EXPECT_EQ(ranks[1].steps, whole.steps);
  EXPECT_EQ(ranks[1].peak_bytes, whole.peak_bytes);
  EXPECT_EQ(ranks[1].peak_step, whole.peak_step);
  EXPECT_EQ(ranks[1].ending, whole.ending);
  EXPECT_EQ(ranks[1].ending_step, whole.ending_step);
}

TEST(PartsTest, AStepThatTwoPartsHaveKeepsItsFirstFigures) {
  const RankSummary whole = Whole();
  std::vector<RankSummary> ranks = {Part(whole, 1, 1, 4), Part(whole, 2, 4, 8)};
  ranks[1].steps.front().peak_bytes = 1;  // this part has only the end of step 4
  JoinParts(ranks);
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0].steps.at(3), whole.steps.at(3));
}

TEST(PartsTest, ThePartOfThePeakIsTheFileThatExplainsIt) {
  const RankSummary whole = Whole();
  std::vector<RankSummary> ranks = {Part(whole, 1, 1, 4), Part(whole, 2, 4, 8), Part(whole, 3, 8, 10)};
  ranks[1].file = "run.part2.vms";
  ranks[2].file = "run.vms";
  JoinParts(ranks);
  EXPECT_EQ(ranks[0].file, "run.part2.vms");
  EXPECT_EQ(ranks[0].last_file, "run.vms") << "the one that is written to while the rank runs";
}

TEST(PartsTest, ASummaryKeepsTheNumberOfThePart) {
  const auto read = ParseSummary(SummaryText({Part(Whole(), 7, 1, 4)}, 1), "run.vms");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->ranks.at(0).part, 7u);
}

}  // namespace
}  // namespace vramscope::fleet
