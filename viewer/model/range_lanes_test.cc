// SPDX-License-Identifier: Apache-2.0
// Oracles: a pass over every range for the pieces, report::FindNamedRanges for the facts.
#include "viewer/model/range_lanes.h"

#include <gtest/gtest.h>

#include <random>

#include "profiler/model/testing/script.h"
#include "profiler/report/named_ranges.h"

namespace vramscope::viewer {
namespace {

using model::testing::Script;
using trace::RangeKind;

TEST(RangeLanesTest, WhatRunsInsideSomethingElseLiesBelowIt) {
  Script s;
  s.Range(RangeKind::kNvtx, "step", 0, [&] {
    s.Range(RangeKind::kNvtx, "forward", 0, [&] { s.Module("layers.0", [&] { s.Alloc("a", 100); }); });
    s.Range(RangeKind::kNvtx, "backward", 0, [&] { s.Free("a"); });
  });
  s.RangeBegin(RangeKind::kNvtx, "copy", 7).RangeBegin(RangeKind::kNvtx, "load", 8);
  s.RangeEnd(RangeKind::kNvtx, "", 7).RangeEnd(RangeKind::kNvtx, "", 8);
  const model::Run run = s.Load();
  const RangeLanes lanes(run, 0);
  ASSERT_EQ(lanes.lanes().size(), 3u);
  const auto names = [&](size_t lane) {
    std::string all;
    for (const uint32_t range : lanes.lanes()[lane].ranges)
      all += std::string(run.Text(run.ranges[range].name)) + " ";
    return all;
  };
  EXPECT_EQ(names(0), "step copy ");
  EXPECT_EQ(names(1), "forward backward load ");
  EXPECT_EQ(names(2), "layers.0 ");
  EXPECT_EQ(lanes.lanes()[2].kind, RangeKind::kModule);
}

TEST(RangeLanesTest, EveryRangeInTheWindowIsInExactlyOnePieceAtEveryZoom) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Script s;
  s.Alloc("a", 8);
  uint64_t time = 100;
  for (int i = 0; i < 3000; ++i) {
    s.At(time += 1 + random() % (i % 100 == 0 ? 200'000 : 500)).RangeBegin(RangeKind::kNvtx, "r");
    s.At(time += random() % (i % 37 == 0 ? 90'000 : 300)).RangeEnd(RangeKind::kNvtx, "r");
  }
  const model::Run run = s.Load();
  const RangeLanes lanes(run, 0);
  ASSERT_EQ(lanes.lanes().size(), 1u);
  const std::vector<uint32_t>& ranges = lanes.lanes()[0].ranges;
  const auto whole = static_cast<double>(run.times.last_ns());
  for (double width = whole; width > TimeView::kShortest; width /= 2.5) {
    for (int place = 0; place < 5; ++place) {
      TimeView view(whole);
      const double begin = std::uniform_real_distribution<double>(0, whole - width)(random);
      view.Show(begin, begin + width);
      const double pixels = 1 + random() % 900;
      const std::vector<LanePiece> pieces = lanes.Pieces(0, view, pixels);
      ASSERT_LE(pieces.size(), 2 * static_cast<size_t>(pixels) + 4);
      std::vector<int> shown(ranges.size(), 0);
      double x = -1e300;
      for (const LanePiece& piece : pieces) {
        ASSERT_GE(piece.x1 - piece.x0, 1);
        ASSERT_GE(piece.x0, x) << "pieces out of order";
        x = piece.x0;
        for (size_t i = piece.first; i < piece.first + piece.count; ++i) {
          ++shown[i];
          const double from = view.PlaceOf(lanes.BeginOf(ranges[i])) * pixels;
          ASSERT_GE(from, piece.x0 - 1e-6);
          ASSERT_LE(view.PlaceOf(lanes.EndOf(ranges[i])) * pixels, piece.x1 + 1e-6);
        }
      }
      for (size_t i = 0; i < ranges.size(); ++i) {
        const bool visible = lanes.EndOf(ranges[i]) >= view.begin() && lanes.BeginOf(ranges[i]) <= view.end();
        ASSERT_EQ(shown[i], visible ? 1 : 0) << "range " << i;
      }
    }
  }
}

TEST(RangeLanesTest, FactsAreThoseOfTheReport) {
  Script s;
  s.Alloc("kept", 100);
  s.Range(RangeKind::kNvtx, "work", 0, [&] { s.Alloc("a", 500).Alloc("b", 50).Free("a"); });
  s.RangeBegin(RangeKind::kNvtx, "open").Free("b");
  const model::Run run = s.Load();
  const timeline::DeviceCurve curve(run, 0);
  for (const report::NamedRange& truth : report::FindNamedRanges(run, curve, 0)) {
    const uint32_t index = truth.name == "work" ? 0 : 1;
    const RangeFacts facts = FactsOf(run, curve, index);
    EXPECT_EQ(facts.name, truth.name);
    EXPECT_EQ(facts.duration_ns, truth.name == "work" ? 40u : 10u);  // one event every 10 ns
    EXPECT_EQ(facts.peak.bytes, truth.peak_bytes);
    EXPECT_EQ(facts.growth, truth.most_growth);
    EXPECT_EQ(facts.ended, truth.name == "work");
  }
}

}  // namespace
}  // namespace vramscope::viewer
