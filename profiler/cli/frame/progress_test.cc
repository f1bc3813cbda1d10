// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/frame/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vramscope::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

Terminal Columns(int width) { return {.width = width}; }

TEST(ProgressTest, SaysHowFarHowFastAndHowLong) {
  const std::string text =
      ProgressText("Reading run.vms", "events", 2'500'000, 10'000'000, 1.25, Columns(100));
  EXPECT_THAT(text, HasSubstr("Reading run.vms  ######"));
  EXPECT_THAT(text, HasSubstr(" 25 %  2.0 M events/s  4 s left"));
}

TEST(ProgressTest, LongTimesAreInMinutesAndShortOnesInWords) {
  EXPECT_THAT(ProgressText("x", "rows", 1, 601, 1, Columns(100)), HasSubstr("10 min 00 s left"));
  EXPECT_THAT(ProgressText("x", "rows", 99'999, 100'000, 10, Columns(100)),
              HasSubstr("10 k rows/s  < 1 s left"));
}

TEST(ProgressTest, OfSlowWorkTheNumberIsShownAndNotTheRate) {
  EXPECT_THAT(ProgressText("Running", "layouts", 1, 3, 20, Columns(100)),
              HasSubstr(" 33 %  1 of 3 layouts  40 s left"));
}

TEST(ProgressTest, NothingIsSaidOfTheRateBeforeAnyTimeHasPassed) {
  EXPECT_THAT(ProgressText("x", "rows", 0, 10, 0, Columns(100)), Not(HasSubstr("/s")));
  EXPECT_THAT(ProgressText("x", "rows", 0, 0, 1, Columns(100)), HasSubstr("0 %"));
}

TEST(ProgressTest, NeverFillsALineOfTheTerminal) {
  const std::string name = "Reading " + std::string(500, 'x');
  for (const int width : {40, 60, 80, 100, 200})
    EXPECT_LT(DisplayWidth(ProgressText(name, "events", 5, 9, 1, Columns(width))),
              static_cast<size_t>(width));
}

TEST(ProgressTest, MoreThanWasExpectedIsAllOfIt) {
  EXPECT_THAT(ProgressText("x", "events", 12, 10, 1, Columns(100)), HasSubstr("100 %"));
}

}  // namespace
}  // namespace vramscope::cli
