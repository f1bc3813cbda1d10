// SPDX-License-Identifier: Apache-2.0
// Oracle: the answers of report, leaks and frag, which have their own tests. Here each rule is compared with
// figures one byte to either side.
#include "profiler/check/judge.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "profiler/model/testing/script.h"

namespace vramscope::check {
namespace {

using model::testing::Script;

// A run of one step. At its peak it has 400 bytes of parameters and an activation of 128 + `grown` bytes.
diff::Side RunOf(uint64_t grown = 0) {
  Script s;
  s.Alloc("weight", 400).Parameter("weight", "fc.weight");
  s.Alloc("hidden", 128 + grown).Saved("hidden");
  s.Backward([&] { s.Released("hidden").Free("hidden").Alloc("grad", 64).Gradient("grad", "weight"); });
  s.Optimizer("SGD", [&] {});
  const model::Run run = s.Load();
  const classify::Analysis analysis(run);
  return *diff::SideOf("run.vms", analysis, {});
}

Verdict JudgeOne(const Rule& rule, const Evidence& evidence) { return Judge({rule}, evidence).front(); }

TEST(JudgeTest, BelowMeansLess) {
  const diff::Side side = RunOf();
  ASSERT_EQ(side.answer.peak.allocated_bytes, 528u);
  const Evidence evidence{.run = &side.answer};
  EXPECT_EQ(JudgeOne({Rule::Kind::kPeak, "", 529}, evidence).outcome, Outcome::kPass);
  EXPECT_EQ(JudgeOne({Rule::Kind::kPeak, "", 528}, evidence).outcome, Outcome::kFail);
  const auto parameter = classify::Category::kParameter;
  EXPECT_EQ(JudgeOne({Rule::Kind::kCategory, "", 401, 0, parameter}, evidence).outcome, Outcome::kPass);
  const Verdict broken = JudgeOne({Rule::Kind::kCategory, "", 400, 0, parameter}, evidence);
  EXPECT_EQ(broken.outcome, Outcome::kFail);
  EXPECT_EQ(broken.measured_bytes, 400u);
}

TEST(JudgeTest, WhatIsNotKnownIsNotJudged) {
  const diff::Side side = RunOf();  // on the CPU, whose allocator reserves nothing
  const Result<fragmentation::Answer> no_segments = Error{"No segment was recorded."};
  const Evidence evidence{.run = &side.answer, .fragmentation = &no_segments};
  EXPECT_EQ(JudgeOne({Rule::Kind::kReserved, "", 1}, evidence).outcome, Outcome::kNotJudged);
  EXPECT_EQ(JudgeOne({Rule::Kind::kDeviceUsed, "", 1}, evidence).outcome, Outcome::kNotJudged);
  const Verdict verdict = JudgeOne({Rule::Kind::kFragmentation, "", 0, 0.15}, evidence);
  EXPECT_EQ(verdict.outcome, Outcome::kNotJudged);
  EXPECT_EQ(verdict.detail, "No segment was recorded.");
  const report::Answer nothing;
  EXPECT_EQ(JudgeOne({Rule::Kind::kPeak, "", 1}, {.run = &nothing}).outcome, Outcome::kNotJudged);
}

TEST(JudgeTest, ALossyTraceCanBreakARuleButNotKeepOne) {
  diff::Side side = RunOf();
  side.answer.dropped_events = 7;
  const Evidence evidence{.run = &side.answer};
  EXPECT_EQ(JudgeOne({Rule::Kind::kPeak, "", 529}, evidence).outcome, Outcome::kNotJudged);
  EXPECT_EQ(JudgeOne({Rule::Kind::kPeak, "", 528}, evidence).outcome, Outcome::kFail);
}

TEST(JudgeTest, AFailedRunCanBreakARuleButNotKeepOne) {
  diff::Side side = RunOf();
  side.answer.failed = "The run failed (exit 1).";
  const Evidence evidence{.run = &side.answer};
  EXPECT_EQ(JudgeOne({Rule::Kind::kPeak, "", 528}, evidence).outcome, Outcome::kFail);
  const Verdict kept = JudgeOne({Rule::Kind::kPeak, "", 529}, evidence);
  EXPECT_EQ(kept.outcome, Outcome::kNotJudged);
  EXPECT_EQ(kept.detail, side.answer.failed);
}

TEST(JudgeTest, ARuleHoldsWhenItHoldsOnEachDevice) {
  diff::Side small = RunOf();
  diff::Side large = RunOf(100);
  small.answer.rank = 0;
  large.answer.rank = 1;
  large.answer.about = "rank 1 (process 101), cuda:1";
  const std::vector<Evidence> all = {{.run = &small.answer}, {.run = &large.answer}};
  const std::vector<Verdict> verdicts =
      JudgeAll({{Rule::Kind::kPeak, "", 600}, {Rule::Kind::kPeak, "", 629}, {Rule::Kind::kPeak, "", 1}}, all);
  EXPECT_EQ(verdicts[0].outcome, Outcome::kFail);
  EXPECT_EQ(verdicts[0].measured_bytes, 628u);
  EXPECT_EQ(verdicts[0].decided_by.text, large.answer.about);
  EXPECT_EQ(verdicts[0].judged, 2u);
  EXPECT_EQ(verdicts[0].broken, 1u);
  EXPECT_EQ(verdicts[1].outcome, Outcome::kPass);
  EXPECT_EQ(verdicts[2].broken, 2u);
  const auto json = nlohmann::json::parse(ToJson({&small.answer, &large.answer}, verdicts));
  EXPECT_EQ(json["rules"][0]["rank"], 1);
  EXPECT_EQ(json["rules"][0]["broken"], 1);
  EXPECT_EQ(json["others"], 1);
}

TEST(JudgeTest, TheSpreadIsThatOfAllDevicesTogether) {
  diff::Side small = RunOf();
  diff::Side large = RunOf(100);
  large.answer.about = "rank 1 (process 101), cuda:1";
  const std::vector<Evidence> all = {{.run = &small.answer}, {.run = &small.answer}, {.run = &large.answer}};
  const double spread = 100.0 / 528;
  const Verdict broken = JudgeAll({{Rule::Kind::kSpread, "", 0, spread}}, all).front();
  EXPECT_EQ(broken.outcome, Outcome::kFail);
  EXPECT_DOUBLE_EQ(*broken.measured_share, spread);
  EXPECT_EQ(broken.decided_by.text, large.answer.about);
  EXPECT_EQ(JudgeAll({{Rule::Kind::kSpread, "", 0, 0.2}}, all).front().outcome, Outcome::kPass);
  const Verdict alone = JudgeAll({{Rule::Kind::kSpread, "", 0, 1}}, {{.run = &small.answer}}).front();
  EXPECT_EQ(alone.outcome, Outcome::kNotJudged);
  large.answer.dropped_events = 7;
  EXPECT_EQ(JudgeAll({{Rule::Kind::kSpread, "", 0, 0.2}}, all).front().outcome, Outcome::kNotJudged);
  const auto json = nlohmann::json::parse(ToJson({&small.answer}, {broken}));
  EXPECT_EQ(json["rules"][0]["rule"], "spread_below");
  EXPECT_DOUBLE_EQ(json["rules"][0]["measured"].get<double>(), spread);
}

TEST(JudgeTest, AProcessWithoutStepsIsNotHeldToGrowthPerStep) {
  diff::Side trains = RunOf();
  report::Answer helper = trains.answer;
  helper.steps.clear();
  const Result<leaks::Answer> nothing_grows = leaks::Answer{};
  const Result<leaks::Answer> no_steps = Error{"0 finished steps."};
  const std::vector<Evidence> all = {{.run = &trains.answer, .leaks = &nothing_grows},
                                     {.run = &helper, .leaks = &no_steps}};
  const Verdict verdict = JudgeAll({{Rule::Kind::kNoLeak, ""}}, all).front();
  EXPECT_EQ(verdict.outcome, Outcome::kPass);
  EXPECT_EQ(verdict.judged, 1u);
}

TEST(JudgeTest, FragmentationIsThatOfFrag) {
  const diff::Side side = RunOf();
  fragmentation::Answer answer;
  answer.peak_reserved = 1000;
  answer.peak_allocated = 850;
  const Result<fragmentation::Answer> fragmentation = answer;
  const Evidence evidence{.run = &side.answer, .fragmentation = &fragmentation};
  EXPECT_EQ(JudgeOne({Rule::Kind::kFragmentation, "", 0, 0.151}, evidence).outcome, Outcome::kPass);
  EXPECT_EQ(JudgeOne({Rule::Kind::kFragmentation, "", 0, 0.149}, evidence).outcome, Outcome::kFail);
}

TEST(JudgeTest, ALeakIsNamedByItsLine) {
  const diff::Side side = RunOf();
  leaks::Answer answer;
  const Result<leaks::Answer> none = answer;
  answer.leaks = {{.line = "train.py:42", .bytes_per_step = 96}, {.bytes_per_step = 4}};
  const Result<leaks::Answer> two = answer;
  EXPECT_EQ(JudgeOne({Rule::Kind::kNoLeak}, {.run = &side.answer, .leaks = &none}).outcome, Outcome::kPass);
  const Verdict broken = JudgeOne({Rule::Kind::kNoLeak}, {.run = &side.answer, .leaks = &two});
  EXPECT_EQ(broken.outcome, Outcome::kFail);
  EXPECT_EQ(broken.measured_bytes, 100u);
  EXPECT_EQ(broken.detail, "train.py:42");
}

TEST(JudgeTest, ABaselineIsHeldWithItsTolerance) {
  const diff::Side before = RunOf();
  const diff::Side after = RunOf(52);  // 528 -> 580
  const diff::Diff diff = diff::Compare(before, after);
  const Evidence evidence{.run = &after.answer, .baseline = &before.answer, .diff = &diff};
  EXPECT_EQ(JudgeOne({Rule::Kind::kBaseline, "", 0, 0.10}, evidence).outcome, Outcome::kPass);  // 580.8
  EXPECT_EQ(JudgeOne({Rule::Kind::kBaseline, "", 0, 0.09}, evidence).outcome, Outcome::kFail);
  diff::Side lossy = before;
  lossy.answer.dropped_events = 1;
  const Evidence uncertain{.run = &after.answer, .baseline = &lossy.answer, .diff = &diff};
  EXPECT_EQ(JudgeOne({Rule::Kind::kBaseline, "", 0, 0.09}, uncertain).outcome, Outcome::kNotJudged);
}

TEST(JudgeTest, ARunThatAllocatedNothingIsNotJudgedAndItsLimitsAreThoseThatWereAskedFor) {
  const report::Answer nothing;
  const diff::Diff diff;
  const Evidence evidence{.run = &nothing, .baseline = &nothing, .diff = &diff};
  for (const Rule& rule : {Rule{Rule::Kind::kPeak, "", 51'200}, Rule{Rule::Kind::kFragmentation, "", 0, 0.1},
                           Rule{Rule::Kind::kNoLeak}, Rule{Rule::Kind::kBaseline}}) {
    const Verdict verdict = JudgeOne(rule, evidence);
    EXPECT_EQ(verdict.outcome, Outcome::kNotJudged);
    EXPECT_EQ(verdict.detail, "nothing was allocated");
    EXPECT_FALSE(verdict.measured_bytes.has_value() || verdict.measured_share.has_value());
  }
  EXPECT_EQ(JudgeOne({Rule::Kind::kPeak, "", 51'200}, evidence).limit_bytes, 51'200u);
  EXPECT_EQ(JudgeOne({Rule::Kind::kFragmentation, "", 0, 0.1}, evidence).limit_share, 0.1);
  EXPECT_EQ(JudgeOne({Rule::Kind::kBaseline}, evidence).limit_bytes, std::nullopt)
      << "the baseline has none either";
}

TEST(JudgeTest, TheWorstOutcomeIsTheAnswer) {
  const Verdict pass{.outcome = Outcome::kPass};
  const Verdict fail{.outcome = Outcome::kFail};
  const Verdict open{.outcome = Outcome::kNotJudged};
  EXPECT_EQ(Overall({pass, pass}), Outcome::kPass);
  EXPECT_EQ(Overall({pass, open}), Outcome::kNotJudged);
  EXPECT_EQ(Overall({open, fail, pass}), Outcome::kFail);
}

TEST(JudgeTest, JsonHasEveryRule) {
  const diff::Side side = RunOf();
  const auto verdicts = Judge({{Rule::Kind::kPeak, "--peak-below 528B", 528}}, {.run = &side.answer});
  const auto json = nlohmann::json::parse(ToJson({&side.answer}, verdicts));
  EXPECT_EQ(json["result"], "fail");
  EXPECT_EQ(json["rules"][0]["rule"], "peak_below");
  EXPECT_EQ(json["rules"][0]["measured_bytes"], 528);
  EXPECT_EQ(json["rules"][0]["limit_bytes"], 528);
}

}  // namespace
}  // namespace vramscope::check
