// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/time_view.h"

#include <gtest/gtest.h>

namespace vramscope::viewer {
namespace {

TEST(TimeViewTest, ZoomKeepsWhatIsUnderTheMouseInItsPlace) {
  TimeView view(1e9);
  view.Zoom(8, 3e8);
  EXPECT_NEAR(view.PlaceOf(3e8), 0.3, 1e-9);
  EXPECT_NEAR(view.width(), 1e9 / 8, 1);
  for (int i = 0; i < 100; ++i) view.Zoom(2, 3e8);
  EXPECT_DOUBLE_EQ(view.width(), TimeView::kShortest);
  for (int i = 0; i < 100; ++i) view.Zoom(0.5, 0);
  EXPECT_TRUE(view.all());
  view.Pan(5e8);
  EXPECT_TRUE(view.all()) << "nothing lies outside of the run";
}

TEST(TimeTicksTest, LabelsOfOneAxisHaveOneUnitAndDiffer) {
  for (const double width : {3e2, 4.2e4, 1e7, 6e9, 3.6e12}) {
    TimeView view(7.2e12);
    view.Show(1e12, 1e12 + width);
    const std::vector<TimeTick> ticks = TimeTicks(view, 8);
    ASSERT_GE(ticks.size(), 2u);
    ASSERT_LE(ticks.size(), 9u);
    for (size_t i = 1; i < ticks.size(); ++i) {
      EXPECT_NE(ticks[i].text, ticks[i - 1].text);
      EXPECT_EQ(ticks[i].text.substr(ticks[i].text.find(' ')), ticks[0].text.substr(ticks[0].text.find(' ')));
    }
  }
}

TEST(ByteTicksTest, AreRoundNumbersOfOneUnit) {
  const std::vector<ByteTick> ticks = ByteTicks(uint64_t{5} << 30, 6);
  ASSERT_EQ(ticks.size(), 6u);
  EXPECT_EQ(ticks[0].text, "0");
  EXPECT_EQ(ticks[5].text, "5 GiB");
  EXPECT_EQ(ByteTicks((uint64_t{3} << 20) - 1, 6).back().text, "2.5 MiB");
  EXPECT_LE(ByteTicks(~uint64_t{0} / 2, 5).size(), 6u);
  EXPECT_EQ(ByteTicks(uint64_t{1} << 30, 8).back().text, "1024 MiB") << "not 0.875 GiB below it";
}

TEST(ByteTicksTest, OfAPartOfTheAxisAreInIt) {
  const uint64_t gib = uint64_t{1} << 30;
  const std::vector<ByteTick> ticks = ByteTicks(10 * gib + 1, 10 * gib + (50 << 20), 6);
  ASSERT_GE(ticks.size(), 3u);
  ASSERT_LE(ticks.size(), 7u);
  EXPECT_EQ(ticks[0].text, "10248 MiB");
  EXPECT_EQ(ticks[1].text, "10256 MiB");
}

}  // namespace
}  // namespace vramscope::viewer
