// SPDX-License-Identifier: Apache-2.0
// Oracle: a pass over every block.
#include "viewer/model/address_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "profiler/model/testing/driver_script.h"
#include "viewer/model/testing/training_document.h"

namespace vramscope::viewer {
namespace {

constexpr uint64_t kMib = 1 << 20;

TEST(AddressAxisTest, WhatNobodyUsedIsCutOutAndEveryUsedAddressKeepsItsPlace) {
  const AddressAxis axis({{100 * kMib, 110 * kMib},
                          {109 * kMib, 120 * kMib},
                          {121 * kMib, 122 * kMib},
                          {900 * kMib, 922 * kMib}});
  ASSERT_EQ(axis.areas().size(), 2u);
  EXPECT_EQ(axis.areas()[0].end, 122 * kMib);  // the hole of 1 MiB is worth seeing
  double before = -1;
  for (const uint64_t address : {100 * kMib, 115 * kMib, 121 * kMib, 900 * kMib, 911 * kMib}) {
    const double place = axis.PlaceOf(address);
    EXPECT_GT(place, before);
    before = place;
    ASSERT_TRUE(axis.AddressAt(place + 1e-9));
    EXPECT_NEAR(static_cast<double>(*axis.AddressAt(place + 1e-9)), static_cast<double>(address), 1000);
  }
  EXPECT_FALSE(axis.AddressAt((axis.PlaceOf(122 * kMib) + axis.PlaceOf(900 * kMib)) / 2));
  EXPECT_NEAR(axis.PlaceOf(922 * kMib), 1, 1e-9);
}

class AddressTimeTest : public testing::Test {
 protected:
  AddressTimeTest() {
    document_ = TrainingDocument();
    device_ = document_->devices[0].get();
    index_ = std::make_unique<AddressTimeIndex>(*document_->run, device_->index, LayoutView());
  }
  AddressTimePicture Draw(const AddressTimeWindow& window) {
    BlockColors colors;
    return DrawAddressTime(*document_, *device_, *index_, window, colors);
  }

  std::unique_ptr<Document> document_;
  DeviceView* device_ = nullptr;
  std::unique_ptr<AddressTimeIndex> index_;
};

TEST_F(AddressTimeTest, AWindowFindsTheBlocksThatReachIntoItAndNoOthers) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto whole = static_cast<double>(document_->run->times.last_ns());
  for (int round = 0; round < 60; ++round) {
    double begin = std::uniform_real_distribution<double>(0, whole)(random);
    double end =
        std::min(whole, begin + std::uniform_real_distribution<double>(0, whole / (1 + round))(random));
    std::set<model::BlockId> found;
    index_->ForEachIn(begin, end, [&](model::BlockId id) { EXPECT_TRUE(found.insert(id).second); });
    for (model::BlockId id = 0; id < document_->run->blocks.size(); ++id) {
      if (document_->run->DeviceOf(document_->run->blocks[id]) != device_->index) continue;
      const bool alive = index_->BeginOf(id) <= end && index_->EndOf(id) >= begin;
      ASSERT_EQ(found.contains(id), alive) << "block " << id;
    }
  }
}

TEST_F(AddressTimeTest, EveryBlockIsDrawnByItselfOrCountedInTheCellsThatItTouches) {
  AddressTimeWindow window{TimeView(static_cast<double>(document_->run->times.last_ns())), 0, 1, 301, 203};
  for (const double zoom : {1.0, 4.0, 50.0}) {
    window.time.Fit();
    window.time.Zoom(zoom, window.time.whole() / 3);
    const AddressTimePicture picture = Draw(window);
    const double pixel_ns = window.time.width() / 301;
    size_t alone = 0;
    size_t small = 0;
    index_->ForEachIn(window.time.begin(), window.time.end(), [&](model::BlockId id) {
      const double low = index_->axis().PlaceOf(document_->run->blocks[id].address);
      const double high =
          low + static_cast<double>(document_->run->blocks[id].size) * index_->axis().places_per_byte();
      const double from = std::max(index_->BeginOf(id), window.time.begin());
      const AddressTimePiece* piece = picture.At(from, std::min((low + high) / 2, 1 - 1e-9));
      ASSERT_NE(piece, nullptr) << "block " << id << " is not to be seen";
      if (index_->EndOf(id) - index_->BeginOf(id) >= pixel_ns && high - low >= 1.0 / 203) {
        ++alone;
      } else {
        ++small;
      }
    });
    EXPECT_EQ(picture.blocks.size(), alone);
    EXPECT_EQ(picture.merged_blocks, small);
    EXPECT_LE(picture.merged.size(), (301 / 4 + 1) * (203 / 5 + 1));
    uint64_t in_legend = 0;
    for (const LegendEntry& entry : picture.legend) in_legend += entry.blocks;
    EXPECT_EQ(in_legend, alone + small);
  }
}

TEST(AddressTimeCategoryTest, ABlockHasTheCategoryOfTheLongestPartOfItsLife) {
  model::testing::Script s;
  s.At(0).Alloc("weight", 400).Parameter("weight", "w");
  s.Data([&] { s.Alloc("batch", 64); }).Alloc("first", 8).Saved("first").Alloc("hidden", 100).Saved("hidden");
  s.At(900'000).Backward(
      [&] { s.Alloc("grad", 400).Gradient("grad", "weight").Released("hidden").At(901'000).Free("hidden"); });
  s.Optimizer("SGD", [&] { s.Alloc("t", 8).Free("t"); });
  const auto document = MakeDocument("run.vms", s.Load(), nullptr);
  const AddressTimeIndex index(*document->run, document->devices[0]->index, LayoutView());
  BlockColors colors;
  AddressTimeWindow window{TimeView(static_cast<double>(document->run->times.last_ns())), 0, 1, 100, 5000};
  const AddressTimePicture picture = DrawAddressTime(*document, *document->devices[0], index, window, colors);
  const auto hidden = std::find_if(picture.blocks.begin(), picture.blocks.end(),
                                   [&](const auto& piece) { return piece.block == s.Id("hidden"); });
  ASSERT_NE(hidden, picture.blocks.end());
  EXPECT_EQ(picture.legend[hidden->entry].text, "Activations");  // it ends as a temporary, for a microsecond
}

TEST(AddressTimeSegmentsTest, SegmentsLastFromTheirAllocationToTheirRelease) {
  model::testing::DriverScript s;
  s.At(0).Context(300 * kMib).Take("libc10_cuda.so", 0x7f0000000000, 20 * kMib).Total(320 * kMib);
  s.Block("a", 0x7f0000000000, 2 * kMib, 20 * kMib);
  s.At(1000).Unblock("a");
  s.At(2000).GiveBack(0x7f0000000000);
  s.At(3000)
      .Take("libc10_cuda.so", 0x7f0008000000, 40 * kMib)
      .Block("b", 0x7f0008000000, 8 * kMib, 40 * kMib);
  const auto document = MakeDocument("driver.vms", s.Load(), nullptr);
  const auto layout = MakeLayout(*document, document->devices[0]->index);
  ASSERT_NE(layout->walk, nullptr) << layout->why_not;
  const AddressTimeIndex index(*document->run, document->devices[0]->index, *layout);
  ASSERT_EQ(index.segments().size(), 2u);
  EXPECT_EQ(index.segments()[0].end - index.segments()[0].begin, 20 * kMib);
  EXPECT_LT(index.segments()[0].end_ns, 2100);
  EXPECT_GE(index.segments()[0].end_ns, 2000);
  EXPECT_GE(index.segments()[1].begin_ns, 3000);
  EXPECT_EQ(index.axis().areas().size(), 2u);
}

}  // namespace
}  // namespace vramscope::viewer
