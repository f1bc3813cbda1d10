// SPDX-License-Identifier: Apache-2.0
// Oracle: failures made so that their reason is known. What PyTorch itself would have done is asked by
// tests/fragmentation.
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

// A device of 1 GiB, 100 MiB of which are the context's. PyTorch has ten segments of 40 MiB, made for blocks
// of that size; in each lies a block of 30 MiB now. A request of `bytes` fails.
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
    const LayoutWalk walk(subject_->history, subject_->rules);
    return Examine(*subject_, walk, 0).value();
  }

  DriverScript script_;
  std::optional<model::Run> run_;
  std::optional<classify::Analysis> analysis_;
  std::optional<Subject> subject_;
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
