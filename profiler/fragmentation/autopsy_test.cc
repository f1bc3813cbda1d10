// SPDX-License-Identifier: Apache-2.0
// Oracle: failures with a known reason. tests/fragmentation checks what PyTorch itself would have done.
#include "profiler/fragmentation/autopsy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/fragmentation/autopsy_words.h"
#include "profiler/fragmentation/trace_subject.h"
#include "profiler/model/testing/driver_script.h"

namespace vramscope::fragmentation {
namespace {

using model::testing::DriverScript;
using ::testing::HasSubstr;

constexpr uint64_t kBase = uint64_t{1} << 40;

// A device of 1 GiB with a context of 100 MiB. PyTorch has ten segments of 40 MiB, each with a block of 30
// MiB and 10 MiB free. A request of `bytes` fails.
class AutopsyTest : public ::testing::Test {
 protected:
  Autopsy FailureOf(uint64_t bytes) {
    script_.Device(model::testing::kCuda0);
    script_.Context(100 * kMiB).Total(100 * kMiB, 1024 * kMiB);
    const auto address_of = [](uint64_t i) { return kBase + i * 40 * kMiB; };
    for (uint64_t i = 0; i < 10; ++i) {
      script_.Take("libc10_cuda.so", address_of(i), 40 * kMiB);
      script_.Block("first" + std::to_string(i), address_of(i), 40 * kMiB, (i + 1) * 40 * kMiB);
    }
    for (uint64_t i = 0; i < 10; ++i) script_.Unblock("first" + std::to_string(i));
    for (uint64_t i = 0; i < 10; ++i) {
      script_.Block("kept" + std::to_string(i), address_of(i), 30 * kMiB, 400 * kMiB);
      script_.Event(trace::EventType::kLabel,
                    {address_of(i), 30 * kMiB, static_cast<uint64_t>(trace::Role::kParameter),
                     static_cast<uint64_t>(trace::LabelSource::kModuleRegistry),
                     script_.trace().Intern("layers." + std::to_string(i) + ".weight"), 0});
    }
    script_.Event(trace::EventType::kOutOfMemory, {bytes, 300 * kMiB, 400 * kMiB, model::testing::kCuda0, 0});
    run_ = script_.Load();
    analysis_.emplace(*run_);
    subject_ = SubjectOf(*analysis_, 0).value();
    if (program_.has_value()) subject_->circumstances = [this](size_t) { return *program_; };
    const LayoutWalk walk(subject_->history, subject_->rules);
    return Examine(*subject_, walk, 0).value();
  }

  DriverScript script_;
  std::optional<model::Run> run_;
  std::optional<classify::Analysis> analysis_;
  std::optional<Subject> subject_;
  std::optional<Circumstances> program_;  // replaces the circumstances in the trace
};

TEST_F(AutopsyTest, MoreThanAllThatIsFreeIsATrueShortageByTheDifference) {
  const Autopsy autopsy = FailureOf(700 * kMiB);
  EXPECT_EQ(autopsy.free.driver, 524 * kMiB) << "1024 without the context and ten segments";
  EXPECT_EQ(autopsy.free.same_domain, 100 * kMiB);
  EXPECT_EQ(autopsy.verdict, Verdict::kTrueShortage);
  EXPECT_EQ(autopsy.shortfall, 76 * kMiB);
  EXPECT_THAT(VerdictSentence(autopsy), HasSubstr("76.0 MiB"));
}

TEST_F(AutopsyTest, WhatWouldFitInOnePieceNamesTheTensorsBetween) {
  const Autopsy autopsy = FailureOf(600 * kMiB);
  EXPECT_EQ(autopsy.reproduced, true);
  EXPECT_EQ(autopsy.verdict, Verdict::kSetting) << "in expandable memory the free bytes lie in one piece";
  ASSERT_EQ(autopsy.blockers.size(), 5U) << "the worst of ten";
  ASSERT_EQ(autopsy.blockers.front().pinned_by.size(), 1U);
  EXPECT_EQ(autopsy.blockers.front().pinned_by.front().text.name, "layers.0.weight");
  EXPECT_EQ(autopsy.blockers.front().pinned_by.front().text.category, "parameter");
  EXPECT_THAT(autopsy.advice.front(), HasSubstr("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"));
}

TEST_F(AutopsyTest, AFailureThatTheModelDoesNotRepeatProvesNothing) {
  const Autopsy autopsy = FailureOf(500 * kMiB);  // the driver had 524 MiB: nothing explains the failure
  EXPECT_EQ(autopsy.reproduced, false);
  EXPECT_THAT(autopsy.unknown, ::testing::Contains(HasSubstr("prove nothing")));
  for (const std::string& advice : autopsy.advice)
    EXPECT_THAT(advice, ::testing::Not(HasSubstr("ALLOC_CONF")));
}

TEST_F(AutopsyTest, GrowthComesBeforeWhatTheAllocatorCouldHaveDone) {
  program_.emplace();
  program_->growth.push_back({.line = "main (train.py:9)",
                              .first_step = 1,
                              .last_step = 11,
                              .steps = 11,
                              .every = 1,
                              .blocks = 11,
                              .bytes = 1408 * kMiB,
                              .bytes_each_time = 128 * kMiB,
                              .bytes_per_step = 128 * kMiB});
  program_->grown = 1408 * kMiB;
  program_->grows_per_step = 128 * kMiB;
  const Autopsy autopsy = FailureOf(600 * kMiB);
  EXPECT_EQ(autopsy.verdict, Verdict::kGrowth);
  EXPECT_EQ(autopsy.of_allocator, Verdict::kSetting);
  const std::string sentence = VerdictSentence(autopsy);
  EXPECT_THAT(sentence, HasSubstr("128.0 MiB of every step are kept since step 1, 1.4 GiB by now"));
  EXPECT_THAT(sentence, HasSubstr("train.py:9"));
  EXPECT_THAT(sentence, HasSubstr("whatever the setting"));
  EXPECT_THAT(autopsy.advice.front(), HasSubstr("Release the tensors allocated at main (train.py:9)"));
}

TEST_F(AutopsyTest, WhatFailedStepsLeftIsSaidFirst) {
  program_.emplace();
  program_->left_by_failures = 620 * kMiB;
  program_->failures = 3;
  const Autopsy autopsy = FailureOf(600 * kMiB);
  EXPECT_EQ(autopsy.verdict, Verdict::kFailedSteps);
  EXPECT_THAT(VerdictSentence(autopsy), HasSubstr("620.0 MiB of 3 failed steps are still held"));
  EXPECT_THAT(autopsy.advice.front(), HasSubstr("Do not keep the exception"));
}

TEST_F(AutopsyTest, ASettingThatServesTheRequestAloneIsNoAnswerWhereMoreIsToCome) {
  program_.emplace();
  program_->upcoming = {50 * kMiB, 50 * kMiB};
  program_->upcoming_of = "exp_avg, exp_avg_sq of 1 parameter";
  const Autopsy autopsy = FailureOf(600 * kMiB);  // 624 MiB are free in all
  EXPECT_EQ(autopsy.verdict, Verdict::kTrueShortage);
  EXPECT_EQ(autopsy.shortfall, 76 * kMiB);
  ASSERT_FALSE(autopsy.trials.empty());
  EXPECT_EQ(autopsy.trials.front().settings, "expandable_segments:True");
  EXPECT_EQ(autopsy.trials.front().end, TrialEnd::kFailsAfter);
  EXPECT_EQ(autopsy.trials.front().served, 0u);
  EXPECT_THAT(VerdictSentence(autopsy), HasSubstr("exp_avg, exp_avg_sq of 1 parameter"));
}

TEST(AutopsyWordsTest, ABlockIsCalledByItsNameThenItsLineThenItsOperator) {
  EXPECT_EQ(GroupTitle({.name = "fc.weight", .op = "aten::mm"}), "fc.weight");
  EXPECT_EQ(GroupTitle({.op = "aten::mm", .frames = {"main (/src/train.py:1)"}}), "main (/src/train.py:1)");
  EXPECT_EQ(GroupTitle({.module = "layers.0", .op = "aten::mm"}), "aten::mm in layers.0");
  EXPECT_EQ(GroupTitle({}), "not known");
}

TEST(TrialTest, ASettingReplacesTheOneOfItsName) {
  EXPECT_EQ(WithSetting("", "a:1"), "a:1");
  EXPECT_EQ(WithSetting("a:1, b:[x:1,y:2],c:3", "b:4"), "a:1,c:3,b:4");
  EXPECT_EQ(WithoutSetting("a:1, b:[x:1,y:2],c:3", "b"), "a:1,c:3");
  EXPECT_EQ(WithoutSetting("a:1", "a"), "");
  EXPECT_EQ(SettingIn("a:1, b:[x:1,y:2],c:3", "b"), "[x:1,y:2]");
  EXPECT_EQ(SettingIn("a:1,b:[x:1,y:2]", "y"), std::nullopt);
  EXPECT_EQ(SettingIn("", "a"), std::nullopt);
}

}  // namespace
}  // namespace vramscope::fragmentation
