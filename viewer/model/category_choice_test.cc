// SPDX-License-Identifier: Apache-2.0
// Oracle: MemorySeries::Show, which computes at once. memory_series_test compares a series with all blocks.
#include "viewer/model/category_choice.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "profiler/classify/analysis.h"
#include "profiler/model/testing/training_loop.h"

namespace vramscope::viewer {
namespace {

using classify::Category;
using classify::MaskOf;
using classify::MemorySeries;

class CategoryChoiceTest : public testing::Test {
 protected:
  CategoryChoiceTest() {
    model::testing::TrainingShape shape;
    shape.events = 20'000;
    run_ = model::Load(model::testing::MakeTrainingTrace(shape)).value();
    analysis_.emplace(run_);
    series_.emplace(run_, analysis_->categories(), 0);
  }
  MemorySeries Shown(classify::CategoryMask categories) {
    MemorySeries series(run_, analysis_->categories(), 0);
    series.Show(categories);
    return series;
  }
  // Calls Update until the count is done, as frames do.
  void UpdateUntilDone() {
    while (choice_.busy()) {
      choice_.Update(*series_, [] {});
      std::this_thread::yield();
    }
  }

  model::Run run_;
  std::optional<classify::Analysis> analysis_;
  std::optional<MemorySeries> series_;
  CategoryChoice choice_;
};

TEST_F(CategoryChoiceTest, WhatWasShownStaysUntilTheOtherIsCounted) {
  const auto gradients = MaskOf(Category::kGradient);
  choice_.Ask(*series_, gradients, [] {});
  EXPECT_EQ(choice_.Of(*series_), gradients);
  EXPECT_EQ(series_->shown(), classify::kAllCategories);
  UpdateUntilDone();
  EXPECT_EQ(series_->shown(), gradients);
  EXPECT_EQ(series_->peak(), Shown(gradients).peak());
  EXPECT_GT(series_->peak(), 0u);
}

TEST_F(CategoryChoiceTest, OfSeveralClicksTheLastOneIsShown) {
  const auto last = MaskOf(Category::kActivation) | MaskOf(Category::kGradient);
  choice_.Ask(*series_, MaskOf(Category::kParameter), [] {});
  choice_.Ask(*series_, MaskOf(Category::kGradient), [] {});
  choice_.Ask(*series_, last, [] {});
  EXPECT_EQ(choice_.Of(*series_), last);
  UpdateUntilDone();
  EXPECT_EQ(series_->shown(), last);
  EXPECT_EQ(series_->peak(), Shown(last).peak());
}

}  // namespace
}  // namespace vramscope::viewer
