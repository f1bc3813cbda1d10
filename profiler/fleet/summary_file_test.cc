// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/summary_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/fleet/job.h"
#include "profiler/fleet/testing/rank_script.h"

namespace vramscope::fleet {
namespace {

using ::testing::HasSubstr;
using testing::kMiB;
using testing::RankScript;

std::vector<RankSummary> Leaking() {
  RankScript script(3);
  script.leak_bytes = 4 * kMiB;
  script.context_bytes = 300 * kMiB;
  script.mesh = "pp 1/2, dp 0/4";
  const model::Run run = model::Load(script.Write()).value();
  return Summarize(classify::Analysis(run), "rank3.vms");
}

TEST(SummaryFileTest, GivesTheSameAnswerAsTheTrace) {
  const std::vector<RankSummary> ranks = Leaking();
  const auto read = ParseSummary(SummaryText(ranks, 4711), "rank3.vms");
  ASSERT_TRUE(read.ok()) << read.error().sentence;
  EXPECT_EQ(read->trace_bytes, 4711u);
  EXPECT_TRUE(read->ranks.at(0).from_summary);
  EXPECT_EQ(read->ranks.at(0).steps, ranks.at(0).steps);
  EXPECT_EQ(ToJson(Compare(read->ranks)), ToJson(Compare(ranks)));
}

TEST(SummaryFileTest, AStepTakesUnder200Bytes) {
  std::vector<RankSummary> ranks = Leaking();
  const size_t without = SummaryText(ranks, 1).size();
  for (uint32_t step = 11; step <= 1010; ++step)
    ranks[0].steps.push_back({step, UINT64_MAX / 2, UINT64_MAX / 2, 1ull << 40, 1ull << 40, 1ull << 40});
  EXPECT_LT(SummaryText(ranks, 1).size() - without, 200u * 1000);
}

TEST(SummaryFileTest, AnyTruncatedSummaryIsRefused) {
  const std::string text = SummaryText(Leaking(), 1);
  for (size_t length = 0; length + 2 < text.size(); ++length)
    EXPECT_FALSE(ParseSummary(std::string_view(text).substr(0, length), "a.vms").ok()) << length;
  EXPECT_THAT(ParseSummary("{}", "a.vms").error().sentence, HasSubstr("a.vms.summary: is not a summary"));
  EXPECT_THAT(ParseSummary(R"({"vramscope_summary": 2})", "a.vms").error().sentence,
              HasSubstr("another version"));
}

}  // namespace
}  // namespace vramscope::fleet
