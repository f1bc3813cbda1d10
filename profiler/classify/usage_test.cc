// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/usage.h"

#include <gtest/gtest.h>

#include <random>

#include "profiler/classify/analysis.h"
#include "profiler/model/testing/script.h"

namespace vramscope::classify {
namespace {

using model::BlockId;
using model::EventIndex;
using model::testing::kCpuDevice;
using model::testing::kCuda0;
using model::testing::Script;
using trace::EventType;

constexpr int kAddresses = 60;

// Events of all kinds in any order, from two processes on two devices, including impossible sequences.
Script RandomStream(std::mt19937& random) {
  Script s;
  const auto address = [&] { return 0x1000 * (1 + random() % kAddresses); };
  for (int i = 0; i < 3'000; ++i) {
    s.Process(100 + random() % 2);
    const uint64_t device = random() % 3 == 0 ? kCuda0 : kCpuDevice;
    switch (random() % 9) {
      case 0:
      case 1:
      case 2:
        s.Event(EventType::kAlloc, {address(), random() % 500, device});
        break;
      case 3:
      case 4:
        s.Event(EventType::kFree, {address(), 0, device});
        break;
      case 5:
        s.Event(EventType::kLabel, {address(), 0, 1 + random() % 7, 1 + random() % 5, 0, 0});
        break;
      case 6:
        s.Event(EventType::kSaved, {address()});
        break;
      case 7:
        s.Event(EventType::kSavedReleased, {address()});
        break;
      case 8:
        s.Event(random() % 2 == 0 ? EventType::kRangeBegin : EventType::kRangeEnd, {1 + random() % 6, 0, 0});
        break;
    }
  }
  return s;
}

// Oracle: for each moment, looks up every block's category at that moment.
TEST(UsageTest, CategoriesSumToWhatIsAllocatedAtEveryMomentOfARandomStream) {
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 5; ++round) {
    const Script s = RandomStream(random);
    const auto run = s.Load();
    const Analysis analysis(run);
    for (model::DeviceIndex device = 0; device < run.devices.size(); ++device) {
      const timeline::DeviceCurve curve(run, device);
      std::vector<EventIndex> moments;
      for (int i = 0; i < 300; ++i) moments.push_back(random() % run.event_count());
      const auto usage = UsageAt(run, analysis.categories(), curve, moments);
      const auto live = LiveAt(run, run.devices[device], moments);
      for (size_t i = 0; i < moments.size(); ++i) {
        CategoryBytes expected = {};
        std::vector<BlockId> expected_live;
        for (BlockId id = 0; id < run.blocks.size(); ++id) {
          if (run.DeviceOf(run.blocks[id]) != device || !run.blocks[id].AliveAfter(moments[i])) continue;
          expected[static_cast<size_t>(analysis.categories().At(id, moments[i]).category)] +=
              run.blocks[id].size;
          expected_live.push_back(id);
        }
        ASSERT_EQ(usage[i], expected) << "after event " << moments[i];
        ASSERT_EQ(live[i], expected_live);
        ASSERT_EQ(Sum(usage[i]), curve.AllocatedAfter(moments[i]));
      }
    }
  }
}

TEST(UsageTest, BytesWhoseAllocationWasNotSeenAreUnattributed) {
  Script s;
  s.Device(kCuda0).TotalsAre(5'000, 9'000).Alloc("w", 100).Parameter("w", "w");
  const auto run = s.Load();
  const Analysis analysis(run);
  const timeline::DeviceCurve curve(run, 0);
  const EventIndex now[] = {1};
  const auto usage = UsageAt(run, analysis.categories(), curve, now);
  EXPECT_EQ(usage[0][static_cast<size_t>(Category::kUnattributed)], 5'000u);
  EXPECT_EQ(usage[0][static_cast<size_t>(Category::kParameter)], 100u);
}

TEST(UsageTest, NoMomentsGiveNoAnswers) {
  Script s;
  s.Alloc("a", 1);
  const auto run = s.Load();
  const Analysis analysis(run);
  EXPECT_TRUE(UsageAt(run, analysis.categories(), timeline::DeviceCurve(run, 0), {}).empty());
}

}  // namespace
}  // namespace vramscope::classify
