// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/fit_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "profiler/model/testing/driver_script.h"
#include "profiler/whatif/testing/block_loop.h"
#include "viewer/model/whatif_view.h"

namespace vramscope::viewer {
namespace {

using model::testing::kMiB;
using whatif::BlockLoop;

constexpr uint64_t kFeatures = 524'288;  // floats a sample: tensors of 16 MiB

struct Case {
  BlockLoop loop{{{kFeatures * 4, 2}, {kFeatures * 4, 5}, {kFeatures * 4, 9}}};
  WhatIfSubject subject{loop.step(), loop.baseline(), {}, {}, {}, {}};

  [[nodiscard]] uint64_t reserved() const { return subject.baseline.use.allocator.reserved_peak; }
};

// The answer to `into`, as the panel shows it once it has arrived.
const std::optional<Result<FitAnswer>>& Ask(FitView& view, const WhatIfSubject& subject,
                                            const std::string& into) {
  std::promise<void> woken;
  view.into = into;
  view.Start(subject, nullptr, [&] { woken.set_value(); });
  if (view.busy()) woken.get_future().wait();
  while (view.busy()) view.Update();
  return view.answer();
}

TEST(FitViewTest, ANumberIsGiBAndANameIsAGpuOfTheTable) {
  collector::GpuModel gpu;
  gpu.name = "a100-40gb";
  gpu.capacity_bytes = 7 * kMiB;
  EXPECT_EQ(ParseFit("24", {})->bytes, 24 * 1024 * kMiB);
  EXPECT_EQ(ParseFit("7.5", {})->bytes, 7680 * kMiB);
  EXPECT_EQ(ParseFit("800MiB", {})->bytes, 800 * kMiB);
  EXPECT_EQ(ParseFit("a100-40gb", {gpu})->bytes, 7 * kMiB);
  EXPECT_EQ(ParseFit("a100-40gb", {gpu})->gpu->name, "a100-40gb");
  for (const char* wrong : {"", "0", "-3", "nan", "inf", "1e30", "24 apples", "h100"})
    EXPECT_FALSE(ParseFit(wrong, {gpu}).ok()) << wrong;
}

// Oracle: the prediction for the changes themselves.
TEST(FitViewTest, TheSwitchesThatAPlanSetsAskForItsChanges) {
  const Case of;
  whatif::Predictor predictor(of.subject.step, of.subject.baseline);
  size_t tried = 0;
  for (const whatif::Lever* lever : whatif::Levers()) {
    for (const std::string& value : lever->Settings(of.subject.step)) {
      const plan::Changes changes = {{lever->info().name, value}};
      const WhatIfQuestion question = QuestionOf(changes, of.subject.step);
      EXPECT_NE(question, WhatIfQuestion{}) << plan::TextOf(changes);
      const whatif::Prediction asked = predictor.Predict(AskedBy(question, {})).value();
      const whatif::Prediction wanted = predictor.Predict(changes).value();
      EXPECT_EQ(asked.levers.size(), wanted.levers.size()) << plan::TextOf(changes);
      EXPECT_EQ(asked.after.allocator.allocated_peak, wanted.after.allocator.allocated_peak);
      EXPECT_EQ(asked.after.allocator.reserved_peak, wanted.after.allocator.reserved_peak);
      ++tried;
    }
  }
  EXPECT_GE(tried, 8u);
}

TEST(FitViewTest, ItFindsWhatThePlannerFinds) {
  const Case of;
  FitView view;
  const uint64_t limit = of.reserved() * 8 / 10;
  const auto& answer = Ask(view, of.subject, std::to_string(limit) + "B");
  ASSERT_TRUE(answer && answer->ok());
  const FitAnswer& found = answer->value();
  const plan::Answer expected =
      plan::MakePlans(of.subject.step, of.subject.baseline, {limit, plan::UsualLevers(), 5});
  ASSERT_FALSE(expected.plans.empty());
  ASSERT_EQ(found.plans.plans.size(), expected.plans.size());
  for (size_t i = 0; i < expected.plans.size(); ++i) {
    EXPECT_EQ(plan::TextOf(found.plans.plans[i].verdict.changes),
              plan::TextOf(expected.plans[i].verdict.changes));
    EXPECT_LE(found.plans.plans[i].verdict.needed, limit);
  }
  EXPECT_EQ(found.questions.size(), expected.plans.size());
  EXPECT_EQ(found.shortfall(), 0u);
}

TEST(FitViewTest, WhatIsTakenBesideTheAllocatorIsNotThere) {
  Case of;
  of.subject.beside = plan::Beside{300 * kMiB, 100 * kMiB, 0};
  FitView view;
  const auto& answer = Ask(view, of.subject, "400MiB");
  ASSERT_TRUE(answer && answer->ok());
  EXPECT_EQ(answer->value().limit.reserved_limit, 0u);
  EXPECT_TRUE(answer->value().plans.plans.empty());
  EXPECT_EQ(answer->value().shortfall(), answer->value().plans.floor.needed);
  EXPECT_GT(answer->value().shortfall(), 0u);
  const std::string json = view.ToJson();
  EXPECT_THAT(json, testing::HasSubstr("\"shortfall_bytes\":" + std::to_string(answer->value().shortfall())));
}

TEST(FitViewTest, ASearchThatIsCancelledHasNoAnswer) {
  const Case of;
  FitView view;
  view.into = "1B";
  view.Start(of.subject, nullptr, [] {});
  ASSERT_TRUE(view.busy());
  view.Cancel();
  while (view.busy()) view.Update();
  EXPECT_TRUE(view.cancelled());
  EXPECT_FALSE(view.answer());
  EXPECT_TRUE(Ask(view, of.subject, "64").has_value());  // but the next search has
  EXPECT_FALSE(view.cancelled());
}

TEST(FitViewTest, WhatCannotBeReadIsASentence) {
  const Case of;
  FitView view;
  const auto& answer = Ask(view, of.subject, "much");
  ASSERT_TRUE(answer && !answer->ok());
  EXPECT_THAT(answer->error().sentence, testing::HasSubstr("GiB"));
}

}  // namespace
}  // namespace vramscope::viewer
