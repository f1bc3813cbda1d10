// SPDX-License-Identifier: Apache-2.0
// Oracle: the report, whose figures the summary repeats.
#include "viewer/model/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "profiler/model/testing/driver_script.h"
#include "profiler/report/build.h"
#include "profiler/text/format.h"

namespace vramscope::viewer {
namespace {

using model::testing::DriverScript;
using model::testing::kMiB;
using ::testing::HasSubstr;

constexpr uint64_t kHeap = 0x7f0000000000;

DriverScript Training() {
  DriverScript s;
  s.Context(300 * kMiB).Total(300 * kMiB);
  s.Take("/opt/libnccl.so.2", kHeap + 100 * kMiB, 64 * kMiB);
  s.Take("libc10_cuda.so", kHeap, 20 * kMiB).Total(384 * kMiB);
  s.Block("weight", kHeap, 10 * kMiB, 20 * kMiB);
  return s;
}

struct Made {
  model::Run run;
  report::Answer answer;
  RunSummary summary;
  explicit Made(model::Run loaded, const std::optional<report::Savings>* savings = nullptr)
      : run(std::move(loaded)),
        answer(report::BuildAnswer(classify::Analysis(run), {}).value()),
        summary(MakeSummary(run, answer, savings)) {}
  [[nodiscard]] const SummaryCard& Card(const std::string& key) const {
    for (const SummaryCard& card : summary.cards) {
      if (card.key == key) return card;
    }
    ADD_FAILURE() << "no card " << key;
    return summary.cards.front();
  }
  [[nodiscard]] std::string TextOf(const std::string& key) const {
    std::string text;
    for (const SummaryRow& row : Card(key).rows) text += row.figure + " " + row.text + "\n";
    return text;
  }
};

TEST(SummaryTest, TheHeadlineIsThatOfTheReport) {
  const Made made(Training().Load());
  EXPECT_THAT(made.summary.headline,
              HasSubstr("Peak " + text::FormatBytes(made.answer.peak.allocated_bytes) + " at "));
  EXPECT_THAT(made.summary.about, HasSubstr("cuda:0"));
}

TEST(SummaryTest, WhatIsShownBeforeItHasTheSameCards) {
  const Made made(Training().Load());
  const RunSummary& expected = ExpectedSummary();
  ASSERT_EQ(expected.cards.size(), made.summary.cards.size());
  for (size_t i = 0; i < expected.cards.size(); ++i) {
    EXPECT_STREQ(expected.cards[i].key, made.summary.cards[i].key);
    EXPECT_EQ(expected.cards[i].link, SummaryLink::kNone) << "there is nothing to be led to yet";
  }
  EXPECT_EQ(expected.cards[1].title, made.summary.cards[1].title);
  EXPECT_FALSE(expected.cards[0].rows.empty()) << "room for the answer";
}

TEST(SummaryTest, PartsOfDeviceMemoryAddUpToItsCapacity) {
  const Made made(Training().Load());
  const SummaryCard& card = made.Card("memory");
  EXPECT_THAT(card.title, HasSubstr("384.0 MiB of device memory of 80.0 GiB"));
  EXPECT_EQ(card.whole, uint64_t{80} << 30);
  uint64_t sum = 0;
  for (const SummaryRow& row : card.rows) sum += row.bytes;
  EXPECT_EQ(sum, card.whole) << "with what is free";
  const std::string text = made.TextOf("memory");
  EXPECT_THAT(text, HasSubstr("300.0 MiB"));
  EXPECT_THAT(text, HasSubstr("NCCL"));
}

TEST(SummaryTest, WithoutDriverCallsItNamesWhatIsMissing) {
  model::testing::Script s;
  s.Device(model::testing::kCuda0).Alloc("a", 1000).Free("a");
  const Made made(s.Load());
  EXPECT_THAT(made.TextOf("memory"), HasSubstr("not recorded"));
  EXPECT_THAT(made.TextOf("growth"), HasSubstr("cannot be judged: 0 finished steps"));
}

TEST(SummaryTest, GrowthIsListedByItsPlace) {
  model::testing::Script s;
  s.Device(model::testing::kCuda0);
  for (int step = 0; step < 9; ++step) {
    s.Alloc("kept" + std::to_string(step), 64 * kMiB).Alloc("x", 512).Saved("x");
    s.Backward([&] { s.Released("x").Free("x"); });
    s.Optimizer("SGD", [] {});
  }
  const Made made(s.Load());
  ASSERT_FALSE(made.answer.growth.empty());
  EXPECT_EQ(made.Card("growth").rows.front().bytes, made.answer.growth.front().bytes);
  EXPECT_EQ(made.Card("growth").link, SummaryLink::kLeaks);
}

TEST(SummaryTest, SavingsAreThoseThatTheReportAdvises) {
  std::optional<report::Savings> savings;
  EXPECT_THAT(Made(Training().Load()).TextOf("savings"), HasSubstr("Trying"));
  EXPECT_THAT(Made(Training().Load(), &savings).TextOf("savings"), HasSubstr("Not known"));
  savings.emplace();
  savings->reserved = 100 * kMiB;
  savings->allocated = 90 * kMiB;
  report::Saving saving;
  saving.title = "checkpoint=all";
  saving.cost = "blocks are computed again";
  saving.allocated = 50 * kMiB;
  saving.reserved = 60 * kMiB;
  savings->cases.push_back(saving);
  const Made made(Training().Load(), &savings);
  ASSERT_EQ(made.Card("savings").rows.size(), 1u);
  EXPECT_EQ(made.Card("savings").rows[0].figure, "-40.0 MiB");
  EXPECT_THAT(made.Card("savings").rows[0].more, HasSubstr("40 % of 100.0 MiB"));
}

TEST(SummaryTest, LostEventsAreAWarning) {
  DriverScript s = Training();
  s.Lost(7);
  const Made made(s.Load());
  const auto& rows = made.Card("trust").rows;
  EXPECT_TRUE(std::any_of(rows.begin(), rows.end(),
                          [](const SummaryRow& row) { return row.figure == "7" && row.warning; }));
}

}  // namespace
}  // namespace vramscope::viewer
