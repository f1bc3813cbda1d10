// SPDX-License-Identifier: Apache-2.0
// What snapshots contain besides blocks and segments, and what they omit: clocks, halves of frees, names that
// programs attach to memory, pinned host memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "profiler/allocator/replay.h"
#include "profiler/classify/analysis.h"
#include "profiler/model/testing/script.h"
#include "profiler/snapshot/from_source.h"
#include "profiler/snapshot/history.h"
#include "profiler/snapshot/read.h"
#include "profiler/snapshot/source.h"
#include "profiler/snapshot/time_axis.h"
#include "profiler/snapshot/write.h"

namespace vramscope::snapshot {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<const Snapshot> SnapshotOf(const std::string& json) {
  return ReadBytes({reinterpret_cast<const uint8_t*>(json.data()), json.size()}, "x.json").value();
}

std::string SegmentAt(uint64_t address, uint64_t bytes, const std::string& state, int device = 0) {
  return R"({"device": )" + std::to_string(device) + R"(, "address": )" + std::to_string(address) +
         R"(, "total_size": )" + std::to_string(bytes) +
         R"(, "stream": 0, "segment_type": "large", "blocks": [{"address": )" + std::to_string(address) +
         R"(, "size": )" + std::to_string(bytes) + R"(, "requested_size": )" + std::to_string(bytes) +
         R"(, "state": ")" + state + R"(", "frames": []}]})";
}

// `more`: other keys, beginning with a comma.
std::string EventOf(const std::string& action, uint64_t address, uint64_t bytes,
                    const std::string& more = "") {
  return R"({"action": ")" + action + R"(", "addr": )" + std::to_string(address) + R"(, "size": )" +
         std::to_string(bytes) + R"(, "stream": 0)" + more + "}";
}

constexpr uint64_t kBase = 1 << 30;
constexpr uint64_t kSize = 32 << 20;

// A block that is allocated, freed, and allocated again at the same address; only the half `told` of the free
// is recorded.
std::string FreedAndAskedForAgain(const std::string& told) {
  return R"({"segments": [)" + SegmentAt(kBase, kSize, "active_allocated") + R"(], "device_traces": [[)" +
         EventOf("segment_alloc", kBase, kSize) + "," + EventOf("alloc", kBase, kSize) + "," +
         EventOf(told, kBase, kSize) + "," + EventOf("alloc", kBase, kSize) + "]]}";
}

TEST(HistoryTest, OfTheHalvesOfAFreeOneTellsOfTheOther) {
  for (const char* told : {"free_requested", "free_completed"}) {
    const DeviceHistory read = ReadHistory(*SnapshotOf(FreedAndAskedForAgain(told)), 0);
    ASSERT_EQ(read.history.events.size(), 5u) << told;
    EXPECT_EQ(read.history.events[2].action, allocator::Action::kFreeRequested);
    EXPECT_EQ(read.history.events[3].action, allocator::Action::kFreeCompleted);
    EXPECT_THAT(read.numbers, ElementsAre(0u, 1u, 2u, 2u, 3u));
    EXPECT_TRUE(allocator::Replay(read.history).value().exact()) << told;
  }
}

// A full ring whose first event is the second half of a free.
TEST(HistoryTest, ACompletedFreeAtTheBeginningIsNoContradiction) {
  const auto snapshot =
      SnapshotOf(R"({"segments": [)" + SegmentAt(kBase, kSize, "inactive") + R"(], "device_traces": [[)" +
                 EventOf("free_completed", kBase, kSize) + "]]}");
  const auto result = allocator::Replay(HistoryOf(*snapshot, 0)).value();
  EXPECT_TRUE(result.exact());
  EXPECT_EQ(result.initial_blocks, 1u);
}

TEST(HistoryTest, ABlockThatWaitsAtTheEndIsNotCompleted) {
  const auto snapshot =
      SnapshotOf(R"({"segments": [)" + SegmentAt(kBase, kSize, "active_pending_free") +
                 R"(], "device_traces": [[)" + EventOf("segment_alloc", kBase, kSize) + "," +
                 EventOf("alloc", kBase, kSize) + "," + EventOf("free_requested", kBase, kSize) + "]]}");
  const allocator::History history = HistoryOf(*snapshot, 0);
  EXPECT_EQ(history.events.back().action, allocator::Action::kFreeRequested);
  EXPECT_TRUE(allocator::Replay(history).value().exact());
}

TEST(TimeAxisTest, AllDevicesOfAFileHaveOneClock) {
  const auto snapshot = SnapshotOf(R"({"segments": [], "device_traces": [[)" +
                                   EventOf("alloc", kBase, 512, R"(, "time_us": 5)") + "],[" +
                                   EventOf("alloc", kBase, 512, R"(, "time_us": 25)") + "]]}");
  EXPECT_EQ(HistoryOf(*snapshot, 1).events[0].time_ns, 20'000u);
  const model::Run run = model::Load(MakeSource(snapshot, "x.json")).value();
  EXPECT_EQ(run.times.last_ns(), 20'000u);
  EXPECT_FALSE(run.counts_events());
}

TEST(TimeAxisTest, WithoutTimesTheNumberOfAnEventIsItsMoment) {
  const auto snapshot =
      SnapshotOf(R"({"segments": [], "device_traces": [[)" + EventOf("alloc", kBase, 512) + "],[" +
                 EventOf("alloc", kBase, 512) + "," + EventOf("free_requested", kBase, 512) + "," +
                 EventOf("free_completed", kBase, 512) + "]]}");
  const allocator::History history = HistoryOf(*snapshot, 1);
  EXPECT_EQ(history.events[0].time_ns, 2u);
  EXPECT_EQ(history.events[2].time_ns, 4u);
  const model::Run run = model::Load(MakeSource(snapshot, "x.json")).value();
  EXPECT_TRUE(run.counts_events());
  EXPECT_EQ(run.times.TimeOf(run.blocks[1].alloc_event), 2u);
  EXPECT_EQ(FromSource(*run.source, run, {}).value().events[0].time_us, kUnknown);
}

// The program called _set_memory_metadata("kv") around the first block, and annotated it.
constexpr const char* kNoted = R"({"segments": [], "device_traces": [[
  {"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "time_us": 1, "user_metadata": "kv"},
  {"action": "annotate", "addr": 4096, "size": 512, "stream": 0, "time_us": 2, "user_metadata": "request 42"},
  {"action": "alloc", "addr": 8192, "size": 512, "stream": 0, "time_us": 3, "user_metadata": "kv"},
  {"action": "alloc", "addr": 12288, "size": 512, "stream": 0, "time_us": 4, "user_metadata": ""}]]})";

TEST(SnapshotSourceTest, WhatAProgramWritesOnItsMemoryNamesIt) {
  const model::Run run = model::Load(MakeSource(SnapshotOf(kNoted), "x.json")).value();
  const classify::Analysis analysis(run);
  EXPECT_EQ(analysis.names().Of(0), "request 42");
  EXPECT_EQ(analysis.names().Of(1), "kv");
  EXPECT_EQ(analysis.names().Of(2), "");
  EXPECT_EQ(run.anomalies, model::Anomalies{});
}

TEST(SnapshotSourceTest, WhatAProgramWritesOnItsMemorySurvivesTheWayThroughATrace) {
  const model::Run run = model::Load(MakeSource(SnapshotOf(kNoted), "x.json")).value();
  const Snapshot copy = FromSource(*run.source, run, {}).value();
  std::vector<std::string> noted;
  for (size_t i = 0; i < copy.events.size(); ++i) {
    const Origin& origin = copy.origins[copy.events[i].origin];
    EXPECT_TRUE(origin.has_metadata);
    noted.push_back(std::to_string(static_cast<int>(copy.events[i].action)) + " " +
                    std::string(copy.Text(origin.user_metadata)));
  }
  const std::string annotate = std::to_string(static_cast<int>(Action::kAnnotate));
  EXPECT_THAT(noted, ElementsAre("0 kv", annotate + " request 42", "0 kv", "0 "));
}

TEST(SnapshotSourceTest, PinnedHostMemoryIsThatOfTheDriver) {
  const auto snapshot = SnapshotOf(R"({"segments": [], "device_traces": [[]], "host_segments": [)" +
                                   SegmentAt(4096, 100, "active_allocated", -1) + "," +
                                   SegmentAt(8192, 200, "active_allocated", -1) + R"(], "host_traces": [)" +
                                   EventOf("segment_alloc", 8192, 200, R"(, "time_us": 3)") + "," +
                                   EventOf("alloc", 8192, 200, R"(, "time_us": 3)") + "]}");
  const model::Run run = model::Load(MakeSource(snapshot, "x.json")).value();
  ASSERT_EQ(run.driver.pinned.size(), 1u);
  EXPECT_EQ(run.driver.pinned[0].bytes.front().value, 100);  // it existed before
  EXPECT_EQ(run.driver.pinned[0].bytes.back().value, 300);
  const Snapshot copy = FromSource(*run.source, run, {}).value();
  ASSERT_EQ(copy.host_segments.size(), 2u);
  EXPECT_EQ(copy.host_segments[1].bytes, 200u);
  EXPECT_EQ(copy.host_segments[1].device, kHostDevice);
}

TEST(FromSourceTest, SegmentsAreThoseThatTheDriverGave) {
  using model::testing::kCuda0;
  model::testing::Script s;
  const uint64_t library = s.trace().Intern("libc10_cuda.so");
  const auto take = [&](uint64_t address, uint64_t bytes) {
    s.Event(trace::EventType::kDriverAlloc, {address, bytes, kCuda0, 0, 0, library, 1, 0});
  };
  take(kBase, 2 << 20);
  s.Event(trace::EventType::kAlloc, {kBase, 512, kCuda0, 7, 0, 400, 0, 0});
  take(kBase + (2 << 20), 20 << 20);
  s.Event(trace::EventType::kAlloc, {kBase + (2 << 20), 2 << 20, kCuda0, 0, 0, 2 << 20, 0, 0});
  const model::Run run = s.Load();
  const Snapshot made = FromSource(*run.source, run, {}).value();
  ASSERT_EQ(made.segments.size(), 2u);  // adjacent, but not one
  EXPECT_EQ(made.segments[0].bytes, 2u << 20);
  EXPECT_EQ(made.segments[0].stream, 7u);  // of the block that it was taken for
  EXPECT_EQ(made.segments[0].requested_bytes, 400u);
  EXPECT_EQ(made.segments[1].bytes, 20u << 20);
  std::vector<Action> actions;
  for (size_t i = 0; i < made.events.size(); ++i) actions.push_back(made.events[i].action);
  EXPECT_THAT(actions,
              ElementsAre(Action::kSegmentAlloc, Action::kAlloc, Action::kSegmentAlloc, Action::kAlloc));
  EXPECT_EQ(made.origins[made.events[0].origin].stream, 7u);
}

}  // namespace
}  // namespace vramscope::snapshot
