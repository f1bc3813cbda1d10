// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/spread.h"

#include <gtest/gtest.h>

namespace vramscope::fleet {
namespace {

TEST(SpreadTest, OneRankThatIsFarAwayDoesNotMoveTheLimit) {
  const Spread spread = SpreadOf({800, 810, 800, 800, 810, 800, 810, 1120});
  EXPECT_EQ(spread.lowest, 800u);
  EXPECT_EQ(spread.median, 800u);
  EXPECT_EQ(spread.highest, 1120u);
  EXPECT_DOUBLE_EQ(spread.share(), 0.4);
  EXPECT_FALSE(spread.StandsOut(810));
  EXPECT_TRUE(spread.StandsOut(1120));
}

TEST(SpreadTest, EqualRanksMayDifferByTwoPercent) {
  const Spread spread = SpreadOf({1000, 1000, 1000, 1000});
  EXPECT_FALSE(spread.StandsOut(1020));
  EXPECT_FALSE(spread.StandsOut(980));
  EXPECT_TRUE(spread.StandsOut(1021));
  EXPECT_TRUE(spread.StandsOut(979));
}

TEST(SpreadTest, NothingHasNoSpread) {
  EXPECT_EQ(SpreadOf({}).median, 0u);
  EXPECT_DOUBLE_EQ(SpreadOf({}).share(), 0);
  EXPECT_FALSE(SpreadOf({}).StandsOut(0));
  EXPECT_EQ(MedianOf({}), 0);
  EXPECT_EQ(MedianOf({-5, 3, 1}), 1);
}

}  // namespace
}  // namespace vramscope::fleet
