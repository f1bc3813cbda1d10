// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "profiler/model/testing/script.h"

namespace vramscope::model {
namespace {

using testing::kCpuDevice;
using testing::kCuda0;
using testing::Script;
using trace::EventType;
using trace::LabelSource;
using trace::MarkKind;
using trace::RangeKind;
using trace::Role;

TEST(RunTest, ABlockLivesFromItsAllocationToItsFree) {
  Script s;
  s.Alloc("a", 100).Alloc("b", 50).Free("a");
  const auto run = s.Load();
  const Block& a = run.blocks[s.Id("a")];
  EXPECT_EQ(a.size, 100u);
  EXPECT_EQ(a.alloc_event, 0u);
  EXPECT_EQ(a.free_event, 2u);
  EXPECT_TRUE(a.AliveAfter(1));
  EXPECT_FALSE(a.AliveAfter(2));
  EXPECT_EQ(run.blocks[s.Id("b")].free_event, kNever);
  EXPECT_EQ(run.times.TimeOf(a.free_event), 20u);
  EXPECT_EQ(run.devices[run.DeviceOf(a)].name, "cpu");
  EXPECT_EQ(run.anomalies, Anomalies{});
}

TEST(RunTest, AnAddressThatIsUsedAgainIsAnotherBlock) {
  Script s;
  s.Alloc("a", 100).Saved("a").Free("a").Reusing("a").Alloc("b", 100).Parameter("b", "w");
  const auto run = s.Load();
  const Block& a = run.blocks[s.Id("a")];
  const Block& b = run.blocks[s.Id("b")];
  EXPECT_EQ(a.address, b.address);
  EXPECT_EQ(run.FactsOf(a)->first_label, kNone);
  EXPECT_EQ(run.FactsOf(b)->first_saved, kNever);
  EXPECT_EQ(run.Text(run.labels[run.FactsOf(b)->first_label].name), "w");
}

TEST(RunTest, ProcessesHaveAddressSpacesOfTheirOwn) {
  Script s;
  s.Process(100).Alloc("parent", 100);
  s.Process(200, 100).Reusing("parent").Alloc("child", 70).Free("child");
  const auto run = s.Load();
  EXPECT_EQ(run.blocks[s.Id("parent")].free_event, kNever);
  EXPECT_EQ(run.blocks[s.Id("child")].free_event, 2u);
  ASSERT_EQ(run.devices.size(), 2u);
  EXPECT_NE(run.DeviceOf(run.blocks[s.Id("parent")]), run.DeviceOf(run.blocks[s.Id("child")]));
  EXPECT_EQ(run.anomalies, Anomalies{});
}

TEST(RunTest, AForkedChildMayFreeWhatItsParentAllocated) {
  Script s;
  s.Process(100).Alloc("a", 100);
  const uint64_t address = s.trace().events().back().field[trace::alloc::kAddress];
  s.Process(200, 100).Event(EventType::kFree, {address, 0, kCpuDevice});
  const auto run = s.Load();
  EXPECT_EQ(run.blocks[s.Id("a")].free_event, kNever) << "the parent still has it";
  EXPECT_EQ(run.anomalies.unknown_frees, 1u);
  EXPECT_EQ(run.anomalies.inherited_frees, 1u);
}

TEST(RunTest, AllocatingALiveAddressEndsTheBlockThatWasThere) {
  Script s;
  s.Alloc("a", 100).Reusing("a").Alloc("b", 40);
  const auto run = s.Load();
  EXPECT_EQ(run.anomalies.double_allocs, 1u);
  EXPECT_EQ(run.blocks[s.Id("a")].free_event, 1u);
  EXPECT_EQ(run.devices[0].changes.size(), 3u);
}

TEST(RunTest, AFreeOfAnUnknownAddressIsCounted) {
  Script s;
  s.Event(EventType::kFree, {0x1234, 0, kCpuDevice});
  EXPECT_EQ(s.Load().anomalies.unknown_frees, 1u);
}

TEST(RunTest, SavedReferencesEndWithTheLastRelease) {
  Script s;
  s.Alloc("x", 8).Saved("x").Saved("x").Released("x").Released("x").Released("x");
  const auto run = s.Load();
  const BlockFacts* facts = run.FactsOf(run.blocks[s.Id("x")]);
  EXPECT_EQ(facts->first_saved, 1u);
  EXPECT_EQ(facts->released, 4u);
  EXPECT_EQ(facts->saved_now, 0u);
  EXPECT_EQ(run.anomalies.releases_without_save, 1u);
}

TEST(RunTest, ABlockThatIsSavedAgainIsReleasedLater) {
  Script s;
  s.Alloc("x", 8).Saved("x").Released("x").Saved("x");
  const auto run = s.Load();
  EXPECT_EQ(run.FactsOf(run.blocks[s.Id("x")])->released, kNever);
}

TEST(RunTest, WhatACheckpointKeptIsReleasedWhenTheCheckpointIsFreed) {
  Script s;
  s.Alloc("x", 8).Alloc("y", 8);
  s.Range(RangeKind::kCheckpoint, "checkpoint", 7, [&] { s.Saved("x").Saved("y"); });
  s.Range(RangeKind::kCheckpoint, "recomputation", 7, [&] { s.Saved("x"); });
  s.Free("y").Reusing("y").Alloc("z", 8).Saved("z").Mark(MarkKind::kCheckpointFreed, 7);
  const auto run = s.Load();
  EXPECT_EQ(run.FactsOf(run.blocks[s.Id("x")])->released, s.last_event());
  EXPECT_EQ(run.FactsOf(run.blocks[s.Id("y")])->released, kNever) << "it was gone before";
  EXPECT_EQ(run.FactsOf(run.blocks[s.Id("z")])->released, kNever) << "saved by somebody else";
}

TEST(RunTest, RangesOfTheProgramNeedNotNestAndEndAlone) {
  Script s;
  s.RangeBegin(RangeKind::kNvtx, "a").RangeBegin(RangeKind::kNvtx, "b").RangeBegin(RangeKind::kBackward, "");
  s.RangeEnd(RangeKind::kNvtx, "a")
      .RangeBegin(RangeKind::kNvtx, "started", 5)
      .RangeEnd(RangeKind::kBackward, "");
  s.RangeEnd(RangeKind::kNvtx, "b");
  s.Thread("another").RangeEnd(RangeKind::kNvtx, "b").RangeEnd(RangeKind::kNvtx, "", 5);
  const auto run = s.Load();
  ASSERT_EQ(run.ranges.size(), 4u);
  const auto& a = run.ranges[0];
  const auto& b = run.ranges[1];
  const auto& backward = run.ranges[2];
  const auto& started = run.ranges[3];
  EXPECT_LT(a.end, started.begin);
  EXPECT_LT(started.begin, backward.end);
  EXPECT_LT(backward.end, b.end);
  EXPECT_EQ(started.end, s.last_event());
  EXPECT_EQ(run.anomalies.unbalanced_ranges, 1u) << "b was not open on the other thread";
}

TEST(RunTest, TheSameLabelEveryStepIsKeptOnce) {
  Script s;
  s.Alloc("w", 8);
  for (int step = 0; step < 5; ++step) s.Label("w", Role::kParameter, LabelSource::kAccumulateGrad, "", 0x70);
  s.Parameter("w", "fc.weight");
  EXPECT_EQ(s.Load().labels.size(), 2u);
}

TEST(RunTest, ManyNamesOnOneStorageAreEachKeptOnce) {
  Script s;
  s.Alloc("flat", 8);
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 100; ++i)
      s.Label("flat", Role::kParameter, LabelSource::kModuleRegistry, "p" + std::to_string(i));
  }
  EXPECT_EQ(s.Load().labels.size(), 100u);
}

TEST(RunTest, LabelsOfForeignMemoryAndEmptyTensorsDoNoHarm) {
  Script s;
  s.Event(EventType::kLabel, {0xdead000, 8, static_cast<uint64_t>(Role::kInput), 4, 0, 0});
  s.Event(EventType::kLabel, {0, 0, static_cast<uint64_t>(Role::kParameter), 1, 0, 0});
  s.Event(EventType::kSaved, {0, 0, 0, 0});
  s.Event(EventType::kLabel, {0xdead000, 8, 999, 4, 0, 0});
  const auto run = s.Load();
  EXPECT_EQ(run.anomalies.labels_without_block, 1u);
  EXPECT_EQ(run.anomalies.saves_without_block, 0u);
  EXPECT_EQ(run.anomalies.bad_events, 1u);
}

TEST(RunTest, ACollectivesAddressInsideOfABlockIsAboutThatBlock) {
  constexpr uint64_t kBefore = 0x10000, kAt = 0x20000, kAfter = 0x30000;
  const auto alloc = [](Script& s, uint64_t address) {
    s.Event(trace::EventType::kAlloc, {address, 4096, 0x100, 0, 0, 0, 0, 0});
  };
  const auto label = [](Script& s, uint64_t address) {
    s.Event(trace::EventType::kLabel, {address, 8, static_cast<uint64_t>(trace::Role::kCommunication),
                                       static_cast<uint64_t>(trace::LabelSource::kCollective), 0, 0});
  };
  Script s;
  alloc(s, kBefore);
  alloc(s, kAt);
  label(s, kAt + 512);
  alloc(s, kAfter);  // after the first lookup
  label(s, kAfter + 4095);
  label(s, kAfter + 4096);  // the program's own memory
  s.Event(trace::EventType::kFree, {kAt, 4096, 0x100, 0, 0, 0});
  label(s, kAt + 512);
  const auto run = s.Load();
  ASSERT_EQ(run.labels.size(), 2u);
  EXPECT_EQ(run.blocks[run.labels[0].block].address, kAt);
  EXPECT_EQ(run.blocks[run.labels[1].block].address, kAfter);
  EXPECT_EQ(run.anomalies.labels_without_block, 0u);
}

TEST(RunTest, ARangeThatAnExceptionLeftOpenEndsWithTheOneAround) {
  Script s;
  s.Range(RangeKind::kOptimizer, "Adam", 1, [&] {
    s.Event(EventType::kRangeBegin, {static_cast<uint64_t>(RangeKind::kModule), 0, 0});
    s.Alloc("x", 8);
  });
  s.Event(EventType::kRangeEnd, {static_cast<uint64_t>(RangeKind::kBackward), 0, 0});
  const auto run = s.Load();
  ASSERT_EQ(run.ranges.size(), 2u);
  EXPECT_EQ(run.ranges[0].end, 3u);
  EXPECT_EQ(run.ranges[1].end, 3u);
  EXPECT_EQ(run.ranges[1].parent, 0u);
  EXPECT_EQ(run.anomalies.unbalanced_ranges, 2u);
}

TEST(RunTest, ABlockKnowsTheModuleAndOpsOfItsBirth) {
  Script s;
  s.Module("encoder", [&] {
    s.Module("encoder.fc", [&] {
      s.Op("aten::linear", [&] { s.Op("aten::addmm", [&] { s.Alloc("out", 8).NodeCreated(7); }); });
    });
    s.Alloc("between", 8);
  });
  s.Thread("autograd").Node("AddmmBackward0", 7, [&] { s.Op("aten::mm", [&] { s.Alloc("grad", 8); }); });
  s.Alloc("after", 8);
  const auto run = s.Load();
  const auto place = [&](const char* block) { return run.contexts.PlaceOf(run.blocks[s.Id(block)].context); };
  EXPECT_EQ(run.Text(place("out").module), "encoder.fc");
  EXPECT_EQ(run.Text(place("out").op), "aten::linear");
  EXPECT_EQ(run.Text(place("out").inner_op), "aten::addmm");
  EXPECT_EQ(run.Text(place("between").module), "encoder");
  EXPECT_EQ(place("between").op, 0u);
  EXPECT_EQ(run.Text(place("grad").module), "encoder.fc") << "the module whose forward made the node";
  EXPECT_EQ(run.Text(place("grad").node), "AddmmBackward0");
  EXPECT_EQ(run.Text(place("grad").op), "aten::mm");
  EXPECT_EQ(run.blocks[s.Id("after")].context, 0u);
}

TEST(RunTest, BytesThatTheAllocatorHeldBeforeRecordingAreKnownAsUnseen) {
  Script s;
  s.Device(kCuda0).TotalsAre(5'000, 10'000).Alloc("a", 100).Alloc("b", 50).Free("a");
  const auto run = s.Load();
  ASSERT_EQ(run.devices[0].unseen.size(), 1u);
  EXPECT_EQ(run.devices[0].unseen[0].value, 5'000);
  EXPECT_EQ(run.devices[0].unseen[0].event, 0u);
  EXPECT_EQ(run.anomalies.total_mismatches, 0u);
  ASSERT_EQ(run.devices[0].reserved.size(), 1u);
  EXPECT_EQ(run.devices[0].reserved[0].value, 10'000);
}

TEST(RunTest, AStandingDifferenceToTheAllocatorsTotalIsBelievedAPassingOneIsNot) {
  Script s;
  s.Device(kCuda0).TotalsAre(0, 10'000).Alloc("a", 100);
  s.TotalsAre(64, 10'000).Alloc("b", 50);  // two threads, two locks: the difference is gone at the next event
  s.TotalsAre(0, 10'000).Alloc("c", 50);
  EXPECT_TRUE(s.Load().devices[0].unseen.empty());
  s.Lost(3).TotalsAre(700, 10'000);
  for (int i = 0; i < 40; ++i) s.Alloc("d" + std::to_string(i), 1);
  const auto run = s.Load();
  ASSERT_EQ(run.devices[0].unseen.size(), 1u);
  EXPECT_EQ(run.devices[0].unseen[0].value, 700);
  EXPECT_EQ(run.lost_events(), 3u);
}

TEST(RunTest, EventsOfUnknownThreadsAreCountedAndSkipped) {
  Script s;
  s.Alloc("a", 8);
  trace::Event foreign;
  foreign.type = EventType::kAlloc;
  foreign.thread = 77;
  s.trace().Append(foreign);
  const auto run = s.Load();
  EXPECT_EQ(run.anomalies.bad_events, 1u);
  EXPECT_EQ(run.blocks.size(), 1u);
}

TEST(RunTest, DeviceNamesAreThoseOfPyTorch) {
  EXPECT_EQ(DeviceName(trace::DeviceCode(0, 0xff)), "cpu");
  EXPECT_EQ(DeviceName(trace::DeviceCode(1, 3)), "cuda:3");
  EXPECT_EQ(DeviceName(trace::DeviceCode(1, 0xff)), "cuda");
  EXPECT_EQ(DeviceName(trace::DeviceCode(12, 0)), "xpu:0");
  EXPECT_EQ(DeviceName(trace::DeviceCode(99, 0)), "device 99:0");
}

// Oracle: MemoryTrace::LiveAt, which walks the events with a std::map.
TEST(RunTest, TheLiveBlocksAfterAnyMomentOfARandomStreamAreThoseOfAPlainWalk) {
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  Script s;
  for (int i = 0; i < 3'000; ++i) {
    s.Process(100 + random() % 3).Device(random() % 2 == 0 ? kCpuDevice : kCuda0);
    s.Event(random() % 20 == 0 ? EventType::kMark : EventType::kAlloc,
            {0x1000 * (1 + random() % 200), 1 + random() % 100, kCpuDevice});
    s.Event(EventType::kFree, {0x1000 * (1 + random() % 200), 0, kCpuDevice});
  }
  const auto run = s.Load();
  for (int i = 0; i < 30; ++i) {
    const EventIndex at = random() % run.event_count();
    const auto expected = s.trace().LiveAt(run.times.TimeOf(at));
    std::vector<uint64_t> numbers;
    for (BlockId id = 0; id < run.blocks.size(); ++id) {
      if (run.blocks[id].AliveAfter(at)) numbers.push_back(uint64_t{id} + 1);
    }
    std::vector<uint64_t> expected_numbers;
    for (const auto& block : expected) expected_numbers.push_back(block.number);
    ASSERT_THAT(numbers, ::testing::ElementsAreArray(expected_numbers)) << "after event " << at;
  }
}

// Scanning for the begin of each end would take hours here.
TEST(RunTest, AMillionNestedRangesAndAsManyEndsOfOthersLoadInLinearTime) {
  const auto field_of = [](RangeKind kind, uint64_t id) {
    return std::vector<uint64_t>{static_cast<uint64_t>(kind), 0, id};
  };
  for (const auto& [kind, deep] : {std::pair(RangeKind::kModule, uint64_t{1'000'000}),
                                   std::pair(RangeKind::kCheckpoint, uint64_t{200'000}),
                                   std::pair(RangeKind::kNvtx, uint64_t{200'000})}) {
    Script s;
    for (uint64_t i = 1; i <= deep; ++i) s.Event(EventType::kRangeBegin, field_of(kind, i));
    for (uint64_t i = 1; i <= deep; ++i) s.Event(EventType::kRangeEnd, field_of(kind, deep + i));
    s.Event(EventType::kRangeEnd, field_of(kind, 1));
    const auto run = s.Load();
    EXPECT_EQ(run.ranges[0].end, 2 * deep);
    EXPECT_EQ(run.anomalies.unbalanced_ranges, kind == RangeKind::kNvtx ? deep : 2 * deep - 1);
  }
}

TEST(RunTest, ABlockBelowAMillionOpenOperatorsHasTheOutermostAndTheInnermost) {
  Script s;
  const uint64_t first = s.trace().Intern("aten::outer"), last = s.trace().Intern("aten::inner");
  for (uint64_t i = 0; i < 1'000'000; ++i) s.Event(EventType::kOpBegin, {i == 0 ? first : last});
  for (int i = 0; i < 1000; ++i) s.Alloc("block" + std::to_string(i), 8);
  const auto run = s.Load();
  const Birthplace& place = run.contexts.PlaceOf(run.blocks[999].context);
  EXPECT_EQ(run.Text(place.op), "aten::outer");
  EXPECT_EQ(run.Text(place.inner_op), "aten::inner");
}

}  // namespace
}  // namespace vramscope::model
