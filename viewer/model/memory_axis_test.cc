// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/memory_axis.h"

#include <gtest/gtest.h>

namespace vramscope::viewer {
namespace {

constexpr uint64_t kAxisMib = 1 << 20;

TimelinePicture PictureOf(uint64_t allocated, uint64_t reserved, uint64_t used) {
  TimelinePicture picture;
  MemoryColumn column;
  column.high = allocated;
  picture.memory.assign(4, column);
  const auto line = [](uint64_t bytes) {
    Extremes value;
    value.Add(static_cast<int64_t>(bytes), 0);
    return std::vector<Extremes>(4, value);
  };
  if (reserved != 0) picture.reserved = line(reserved);
  if (used != 0) picture.used = line(used);
  return picture;
}

TEST(MemoryAxisTest, FollowsWhatIsAllocatedAndOnlyLinesThatAreNear) {
  const TimelinePicture picture = PictureOf(100 * kAxisMib, 120 * kAxisMib, 2000 * kAxisMib);
  const MemoryAxis axis = AxisFor(picture, 24'000 * kAxisMib, {}, true, {});
  EXPECT_EQ(axis.low, 0);
  EXPECT_GE(axis.high, 120.0 * kAxisMib) << "reserved is near";
  EXPECT_LT(axis.high, 140.0 * kAxisMib) << "what the device uses would squeeze the picture to a twentieth";
}

TEST(MemoryAxisTest, ReachesUpToALineThatWasClickedAndIgnoresHiddenOnes) {
  const TimelinePicture picture = PictureOf(100 * kAxisMib, 120 * kAxisMib, 2000 * kAxisMib);
  MemoryLineChoice choice;
  choice.reached[static_cast<size_t>(MemoryLine::kUsed)] = true;
  EXPECT_GE(AxisFor(picture, std::nullopt, choice, true, {}).high, 2000.0 * kAxisMib);
  choice.shown[static_cast<size_t>(MemoryLine::kUsed)] = false;
  EXPECT_LT(AxisFor(picture, std::nullopt, choice, true, {}).high, 140.0 * kAxisMib);
  choice.shown[static_cast<size_t>(MemoryLine::kReserved)] = false;
  EXPECT_LT(AxisFor(picture, std::nullopt, choice, true, {}).high, 115.0 * kAxisMib);
}

TEST(MemoryAxisTest, ZoomKeepsWhatIsUnderTheMouse) {
  MemoryZoom zoom;
  zoom.Zoom(4, 0.6);
  EXPECT_NEAR((0.6 - zoom.low) / (zoom.high - zoom.low), 0.6, 1e-9);
  EXPECT_NEAR(zoom.high - zoom.low, 0.25, 1e-9);
  const TimelinePicture picture = PictureOf(100 * kAxisMib, 0, 0);
  const MemoryAxis all = AxisFor(picture, std::nullopt, {}, true, {});
  const MemoryAxis part = AxisFor(picture, std::nullopt, {}, true, zoom);
  EXPECT_NEAR(part.ShareOf(0.6 * all.high), 0.6, 1e-9);
  for (int i = 0; i < 50; ++i) zoom.Zoom(0.5, 0.1);
  EXPECT_TRUE(zoom.all());
}

TEST(MemoryAxisTest, LabelsStandOnTheirLinesAndDoNotCoverEachOther) {
  const TimelinePicture picture = PictureOf(100 * kAxisMib, 120 * kAxisMib, 121 * kAxisMib);
  const MemoryAxis axis = AxisFor(picture, 24'000 * kAxisMib, {}, true, {});
  const auto labels = LabelsOf(picture, 24'000 * kAxisMib, {}, axis, 0.05);
  ASSERT_EQ(labels.size(), 3u);
  EXPECT_EQ(labels[0].line, MemoryLine::kCapacity);
  EXPECT_GT(labels[0].share, 1) << "far above the picture";
  EXPECT_NEAR(labels[0].place, 0.975, 1e-9) << "so it is named at the upper edge";
  EXPECT_EQ(labels[1].line, MemoryLine::kUsed);
  for (size_t i = 1; i < labels.size(); ++i) EXPECT_LE(labels[i].place, labels[i - 1].place - 0.05 + 1e-9);
  MemoryLineChoice choice;
  choice.shown = {true, false, false};
  EXPECT_EQ(LabelsOf(picture, 24'000 * kAxisMib, choice, axis, 0.05).size(), 1u);
}

}  // namespace
}  // namespace vramscope::viewer
