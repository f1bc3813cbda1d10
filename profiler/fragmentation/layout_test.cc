// SPDX-License-Identifier: Apache-2.0
// Oracle: the model of PyTorch's allocator (profiler/allocator), which is tested against PyTorch's own. The
// model creates random histories and lists its segments. The layout gets only the events.
#include "profiler/fragmentation/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "profiler/allocator/device_allocator.h"
#include "profiler/fragmentation/layout_walk.h"
#include "profiler/fragmentation/measure.h"

namespace vramscope::fragmentation {
namespace {

using allocator::Event;
using allocator::History;
using allocator::SegmentState;

class EndlessDriver : public allocator::Driver {
 public:
  uint64_t AllocateSegment(uint64_t bytes) override { return Take(bytes); }
  void FreeSegment(uint64_t, uint64_t) override {}
  uint64_t ReserveAddresses(uint64_t bytes) override { return Take(bytes); }
  void ReleaseAddresses(uint64_t, uint64_t) override {}
  bool MapPages(uint64_t, uint64_t, uint64_t) override { return true; }
  void UnmapPages(uint64_t, uint64_t) override {}
  uint64_t FreeBytes() override { return uint64_t{1} << 40; }

 private:
  uint64_t Take(uint64_t bytes) {
    const uint64_t address = next_;
    next_ += (bytes + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB);
    return address;
  }
  uint64_t next_ = 2 * kMiB;
};

// A random program, its events, and the segments after some of them.
class RandomProgram : public allocator::Listener {
 public:
  RandomProgram(uint32_t seed, const std::string& settings) : chance_(seed) {
    const auto& release = allocator::ReleaseOf("2.6.0");
    allocator_.emplace(release, allocator::ParseSettings(settings, release).value(), 16 * allocator::kGiB,
                       driver_);
    side_ = allocator_->AddStream(0x77);
    history_.streams.push_back(0x77);
    allocator_->SetListener(this);
  }

  void OnEvent(const Event& event) override { history_.events.push_back(event); }

  void Run(int operations) {
    for (int i = 0; i < operations; ++i) {
      Step();
      if (i % 50 == 0)
        seen_.emplace_back(static_cast<Moment>(history_.events.size()), allocator_->Segments());
    }
    history_.segments = allocator_->Segments();
    history_.has_segments = true;
  }

  History history_;
  std::vector<std::pair<Moment, std::vector<SegmentState>>> seen_;

 private:
  uint64_t Size() {
    const uint64_t power = std::uniform_int_distribution<uint64_t>(3, 26)(chance_);
    return std::uniform_int_distribution<uint64_t>(1, uint64_t{1} << power)(chance_);
  }

  void Step() {
    const unsigned dice = std::uniform_int_distribution<unsigned>(0, 199)(chance_);
    if (dice == 0) return allocator_->EmptyCache();
    const bool grows = live_.size() < 40 || dice % 2 == 1;
    if (grows && live_.size() < 400) {
      live_.push_back(*allocator_->Malloc(Size(), dice % 5 == 0 ? side_ : 0));
      return;
    }
    if (!pending_.empty() && dice % 4 == 0) {
      (void)allocator_->CompleteFree(pending_.back());
      pending_.pop_back();
      return;
    }
    const size_t which = std::uniform_int_distribution<size_t>(0, live_.size() - 1)(chance_);
    const uint64_t address = live_[which];
    live_[which] = live_.back();
    live_.pop_back();
    if (dice % 10 == 0) {
      (void)allocator_->FreeLater(address);
      pending_.push_back(address);
    } else {
      (void)allocator_->Free(address);
    }
  }

  std::mt19937 chance_;
  EndlessDriver driver_;
  std::optional<allocator::DeviceAllocator> allocator_;
  allocator::StreamIndex side_ = 0;
  std::vector<uint64_t> live_;
  std::vector<uint64_t> pending_;
};

Rules RulesFor(const std::string& settings) {
  Rules rules;
  rules.settings.expandable_segments = settings.starts_with("expandable");
  if (settings.starts_with("max_split")) rules.settings.max_split_bytes = 64 * kMiB;
  if (settings.starts_with("roundup")) rules.settings.roundup_power2_divisions.fill(8);
  return rules;
}

// The blocks in use and the free ones, as (address, bytes, requested bytes, use).
using Shape = std::vector<std::tuple<uint64_t, uint64_t, uint64_t, int>>;

Shape ShapeOf(const Layout& layout) {
  Shape shape;
  for (const auto& [address, index] : layout.segments()) {
    for (BlockIndex at = layout.segment(index).first; at != kNoIndex; at = layout.block(at).next) {
      const Block& block = layout.block(at);
      shape.emplace_back(block.address, block.bytes, block.requested_bytes, static_cast<int>(block.use));
    }
  }
  return shape;
}

Shape ShapeOf(const std::vector<SegmentState>& segments) {
  Shape shape;
  for (const SegmentState& segment : segments) {
    for (const allocator::BlockState& block : segment.blocks) {
      const bool free = block.use == allocator::BlockUse::kFree;
      shape.emplace_back(block.address, block.bytes, free ? 0 : block.requested_bytes,
                         static_cast<int>(block.use));
    }
  }
  std::sort(shape.begin(), shape.end());
  return shape;
}

class LayoutTest : public ::testing::TestWithParam<const char*> {
 protected:
  const uint32_t seed_ = std::random_device()();
};

TEST_P(LayoutTest, FollowsTheAllocatorBlockByBlock) {
  RandomProgram program(seed_, GetParam());
  program.history_.complete = true;
  program.Run(4000);
  const LayoutWalk walk(program.history_, RulesFor(GetParam()));
  EXPECT_EQ(walk.troubles().total(), 0U) << "seed " << seed_;
  LayoutCursor cursor(walk);
  for (const auto& [moment, segments] : program.seen_) {
    ASSERT_EQ(ShapeOf(cursor.Seek(moment)), ShapeOf(segments)) << "moment " << moment << ", seed " << seed_;
  }
}

TEST_P(LayoutTest, FindsWhatWasThereBeforeTheHistoryBegins) {
  RandomProgram program(seed_, GetParam());
  program.Run(4000);
  const auto cut = static_cast<Moment>(program.history_.events.size() / 2);
  auto& events = program.history_.events;
  events.erase(events.begin(), events.begin() + cut);
  const LayoutWalk walk(program.history_, RulesFor(GetParam()));
  for (const auto& [moment, segments] : program.seen_) {
    if (moment < cut) continue;
    const Layout layout = walk.At(moment - cut);
    uint64_t reserved = 0;
    for (const SegmentState& segment : segments) reserved += segment.bytes;
    ASSERT_EQ(layout.Total().reserved, reserved) << "moment " << moment << ", seed " << seed_;
    // Slack is unknown if no event shows it, so only the requested bytes are compared.
    uint64_t requested = 0;
    for (const auto& [address, bytes, asked, use] : ShapeOf(segments)) requested += use == 1 ? asked : 0;
    ASSERT_EQ(layout.Total().requested, requested) << "moment " << moment << ", seed " << seed_;
  }
  ASSERT_EQ(ShapeOf(walk.At(walk.end())), ShapeOf(program.history_.segments)) << "seed " << seed_;
}

TEST_P(LayoutTest, TheSumsAreThoseOfAllBlocksAndTheCausesAddUp) {
  RandomProgram program(seed_, GetParam());
  program.history_.complete = true;
  program.Run(2000);
  const LayoutWalk walk(program.history_, RulesFor(GetParam()));
  LayoutCursor cursor(walk);
  for (Moment moment = 0; moment <= walk.end(); moment += 37) {
    const Layout& layout = cursor.Seek(moment);
    uint64_t sums[3] = {};
    for (const auto& [address, bytes, asked, use] : ShapeOf(layout)) sums[use] += bytes;
    const Metrics metrics = Measure(layout);
    EXPECT_EQ(metrics.total.free, sums[0]) << "seed " << seed_;
    EXPECT_EQ(metrics.total.allocated, sums[1]);
    EXPECT_EQ(metrics.total.pending, sums[2]);
    EXPECT_EQ(metrics.total.reserved, sums[0] + sums[1] + sums[2]);
    EXPECT_EQ(metrics.causes.Sum(), metrics.total.reserved - metrics.total.requested);
    uint64_t held_back = 0;
    for (const PinnedSegment& segment : PinnedSegments(layout)) {
      held_back += segment.held_back;
      EXPECT_FALSE(segment.pins.empty());
    }
    EXPECT_EQ(held_back, metrics.stranded());
  }
}

TEST_P(LayoutTest, ThePeaksOfAWalkAreThoseOfAllItsMoments) {
  RandomProgram program(seed_, GetParam());
  program.history_.complete = true;
  program.Run(6000);
  const LayoutWalk walk(program.history_, RulesFor(GetParam()));
  Layout layout(RulesFor(GetParam()));
  uint64_t reserved = 0;
  uint64_t allocated = 0;
  uint64_t requested = 0;
  uint64_t waste = 0;
  Moment worst = 0;
  for (Moment moment = 0; moment < walk.end(); ++moment) {
    layout.Apply(program.history_.events[moment], moment);
    const Domain total = layout.Total();
    ASSERT_EQ(layout.held().reserved, total.reserved) << "moment " << moment << ", seed " << seed_;
    ASSERT_EQ(layout.held().allocated, total.allocated) << "moment " << moment << ", seed " << seed_;
    ASSERT_EQ(layout.held().requested, total.requested) << "moment " << moment << ", seed " << seed_;
    reserved = std::max(reserved, total.reserved);
    allocated = std::max(allocated, total.allocated);
    requested = std::max(requested, total.requested);
    if (total.reserved - total.requested > waste) {
      waste = total.reserved - total.requested;
      worst = moment + 1;
    }
  }
  EXPECT_EQ(walk.peak_reserved(), reserved) << "seed " << seed_;
  EXPECT_EQ(walk.peak_allocated(), allocated) << "seed " << seed_;
  EXPECT_EQ(walk.peak_requested(), requested) << "seed " << seed_;
  EXPECT_EQ(walk.worst(), worst) << "seed " << seed_;
  EXPECT_EQ(walk.troubles().total(), layout.troubles().total()) << "seed " << seed_;
}

TEST_P(LayoutTest, SeekingBackAndForthIsWalkingThere) {
  RandomProgram program(seed_, GetParam());
  program.history_.complete = true;
  program.Run(12000);
  const LayoutWalk walk(program.history_, RulesFor(GetParam()));
  LayoutCursor cursor(walk);
  std::mt19937 chance(seed_);
  for (int i = 0; i < 20; ++i) {
    const Moment moment = std::uniform_int_distribution<Moment>(0, walk.end())(chance);
    Layout walked(RulesFor(GetParam()));
    for (Moment at = 0; at < moment; ++at) walked.Apply(program.history_.events[at], at);
    ASSERT_EQ(ShapeOf(cursor.Seek(moment)), ShapeOf(walked)) << "moment " << moment << ", seed " << seed_;
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, LayoutTest,
                         ::testing::Values("", "expandable_segments:True", "max_split_size_mb:64",
                                           "roundup_power2_divisions:8"));

TEST(LayoutTroubleTest, WhatContradictsItselfIsCountedAndTheSumsHold) {
  Layout layout((Rules()));
  SegmentState segment{.address = 20 * kMiB, .bytes = 20 * kMiB, .large = true};
  segment.blocks = {{21 * kMiB, 2 * kMiB, 2 * kMiB, allocator::BlockUse::kAllocated}};
  layout.AddSegment(segment);
  const auto apply = [&](allocator::Action action, uint64_t address, uint64_t bytes) {
    Event event;
    event.action = action;
    event.address = address;
    event.bytes = bytes;
    layout.Apply(event, 7);
  };
  apply(allocator::Action::kAlloc, 100 * kMiB, kMiB);            // in no segment
  apply(allocator::Action::kAlloc, 22 * kMiB, 4 * kMiB);         // inside a block
  apply(allocator::Action::kAlloc, 39 * kMiB, 4 * kMiB);         // larger than the free space there
  apply(allocator::Action::kFreeCompleted, 30 * kMiB, kMiB);     // no block there
  apply(allocator::Action::kSegmentFree, 60 * kMiB, 20 * kMiB);  // no segment there
  const Troubles& troubles = layout.troubles();
  EXPECT_EQ(troubles.outside_segments, 1U);
  EXPECT_EQ(troubles.overlaps, 1U);
  EXPECT_EQ(troubles.too_small, 1U);
  EXPECT_EQ(troubles.unknown_frees, 1U);
  EXPECT_EQ(troubles.unknown_segments, 1U);
  EXPECT_EQ(troubles.first, 7U);
  EXPECT_EQ(Decompose(layout).Sum(), layout.Total().reserved - layout.Total().requested);
  apply(allocator::Action::kSegmentFree, 20 * kMiB, 20 * kMiB);
  EXPECT_EQ(layout.Total().reserved, 0U);
  EXPECT_EQ(layout.troubles().segments_in_use, 1U);
}

TEST(LayoutTroubleTest, TheSegmentsAtTheEndAreBelievedAndNotTheEventsBeforeThem) {
  History history;
  history.has_segments = true;
  history.segments.push_back({.address = 20 * kMiB, .bytes = 20 * kMiB, .large = true});
  Event event;
  event.address = 20 * kMiB;
  event.bytes = 4 * kMiB;
  history.events.push_back(event);  // never freed, and missing at the end
  const LayoutWalk walk(history, Rules());
  EXPECT_EQ(walk.troubles().other_end, 1U);
  EXPECT_EQ(walk.At(walk.end()).Total().allocated, 0U);
  EXPECT_EQ(walk.At(0).Total().free, 20 * kMiB);
}

TEST(LayoutTroubleTest, NoHistoryHoweverWrongBreaksTheSums) {
  const uint32_t seed = std::random_device()();
  std::mt19937 chance(seed);
  const auto below = [&](uint64_t limit) {
    return std::uniform_int_distribution<uint64_t>(0, limit - 1)(chance);
  };
  for (int round = 0; round < 200; ++round) {
    History history;
    history.has_segments = round % 2 == 0;
    for (uint64_t i = 0; i < below(4); ++i) {
      SegmentState segment{.address = below(100) * kMiB,
                           .bytes = below(30) * kMiB,
                           .large = below(2) == 0,
                           .expandable = below(2) == 0};
      for (uint64_t k = 0; k < below(4); ++k) {
        segment.blocks.push_back({below(100) * kMiB, below(8 * kMiB), below(8 * kMiB),
                                  static_cast<allocator::BlockUse>(below(3))});
      }
      history.segments.push_back(segment);
    }
    for (int i = 0; i < 300; ++i) {
      Event event;
      event.action = static_cast<allocator::Action>(below(9));
      event.address = below(50) == 0 ? ~uint64_t{0} - below(9) : below(200) * kMiB / 2;
      event.bytes = below(50) == 0 ? ~uint64_t{0} - below(9) : below(24 * kMiB);
      event.stream = static_cast<allocator::StreamIndex>(below(2));
      history.events.push_back(event);
    }
    const LayoutWalk walk(history, RulesFor(round % 3 == 0 ? "expandable" : ""));
    LayoutCursor cursor(walk);
    for (Moment moment = 0; moment <= walk.end(); moment += 10) {
      const Layout& layout = cursor.Seek(moment);
      const Metrics metrics = Measure(layout);
      uint64_t bytes = 0;
      for (const auto& [address, index] : layout.segments()) bytes += layout.segment(index).bytes;
      ASSERT_EQ(metrics.total.reserved, bytes) << "seed " << seed << ", round " << round;
      ASSERT_EQ(metrics.total.free, metrics.space.bytes);
      ASSERT_EQ(metrics.total.free + metrics.active(), bytes) << "seed " << seed << ", round " << round;
      ASSERT_EQ(metrics.causes.Sum(), bytes - metrics.total.requested);
      (void)PinnedSegments(layout);
    }
  }
}

}  // namespace
}  // namespace vramscope::fragmentation
