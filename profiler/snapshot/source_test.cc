// SPDX-License-Identifier: Apache-2.0
// Snapshots as traces and back. Python's and PyTorch's own view of the same files is in tests/snapshots.
#include "profiler/snapshot/source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "profiler/snapshot/from_source.h"
#include "profiler/snapshot/history.h"
#include "profiler/snapshot/read.h"
#include "profiler/snapshot/timeline.h"
#include "profiler/snapshot/write.h"

namespace vramscope::snapshot {
namespace {

using ::testing::HasSubstr;

class TextSink final : public trace::ByteSink {
 public:
  explicit TextSink(std::string* text) : text_(*text) {}
  Status Write(std::span<const std::byte> bytes) override {
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }

 private:
  std::string& text_;
};

std::shared_ptr<const Snapshot> FromJson(const std::string& text) {
  return ReadBytes({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "x.json").value();
}

// A block of 1000 bytes that existed before, one that is allocated, one that is allocated and freed; a
// segment that is taken.
constexpr const char* kMiddle = R"({"segments": [
  {"device": 0, "address": 1000448, "total_size": 2097152, "stream": 0, "segment_type": "small", "blocks": [
    {"address": 1000448, "size": 1024, "requested_size": 1000, "state": "active_allocated", "frames": []},
    {"address": 1001472, "size": 2096128, "requested_size": 0, "state": "inactive", "frames": []}]},
  {"device": 0, "address": 8388608, "total_size": 20971520, "stream": 0, "segment_type": "large", "blocks": [
    {"address": 8388608, "size": 2097152, "requested_size": 2097152, "state": "active_allocated", "frames": []},
    {"address": 10485760, "size": 18874368, "requested_size": 0, "state": "inactive", "frames": []}]}],
  "device_traces": [[
    {"action": "free_requested", "addr": 1001472, "size": 700, "stream": 0, "time_us": 10},
    {"action": "free_completed", "addr": 1001472, "size": 700, "stream": 0, "time_us": 10},
    {"action": "segment_alloc", "addr": 8388608, "size": 20971520, "stream": 0, "time_us": 12},
    {"action": "alloc", "addr": 8388608, "size": 2097152, "stream": 0, "time_us": 13}]]})";

TEST(HeldMemoryTest, IsCutWhereSomethingIsTakenOut) {
  HeldMemory memory;
  memory.Add({100, 100, 0});
  memory.Add({200, 50, 0});
  memory.Remove(150, 70);
  ASSERT_EQ(memory.ranges().size(), 2u);
  EXPECT_EQ(memory.ranges()[0].bytes, 50u);
  EXPECT_EQ(memory.ranges()[1].address, 220u);
  EXPECT_EQ(memory.bytes(), 80u);
  memory.Remove(0, 1000);
  EXPECT_EQ(memory.bytes(), 0u);
}

TEST(TimelineTest, FindsWhatWasThereBeforeTheHistoryBegan) {
  const DeviceTimeline timeline = FindTimeline(*FromJson(kMiddle), 0);
  ASSERT_EQ(timeline.earlier_blocks.size(), 2u);
  EXPECT_EQ(timeline.earlier_blocks[0].address, 1000448u);
  EXPECT_EQ(timeline.earlier_blocks[0].bytes, 1024u);
  EXPECT_EQ(timeline.earlier_blocks[1].address, 1001472u);
  EXPECT_EQ(timeline.earlier_blocks[1].requested_bytes, 700u);
  ASSERT_EQ(timeline.earlier_memory.size(), 1u);
  EXPECT_EQ(timeline.earlier_memory[0].address, 1000448u);
  EXPECT_EQ(timeline.contradictions, 0u);
}

TEST(SnapshotSourceTest, CountsAllocatedAndReservedBytes) {
  const model::Run run = model::Load(MakeSource(FromJson(kMiddle), "x.json")).value();
  ASSERT_EQ(run.devices.size(), 1u);
  EXPECT_EQ(run.devices[0].name, "cuda:0");
  EXPECT_EQ(run.blocks.size(), 3u);
  EXPECT_EQ(run.anomalies, model::Anomalies{});
  ASSERT_EQ(run.devices[0].reserved.size(), 2u);
  EXPECT_EQ(run.devices[0].reserved[0].value, 2097152);
  EXPECT_EQ(run.devices[0].reserved[1].value, 2097152 + 20971520);
}

TEST(SnapshotSourceTest, WhatIsGivenBackAfterTheLastAllocationIsNotReservedAnyMore) {
  const auto snapshot = FromJson(R"({"segments": [
    {"device": 0, "address": 1000448, "total_size": 2097152, "stream": 0, "segment_type": "small", "blocks": [
      {"address": 1000448, "size": 2097152, "requested_size": 0, "state": "inactive", "frames": []}]}],
    "device_traces": [[
      {"action": "alloc", "addr": 1000448, "size": 1000, "stream": 0, "time_us": 9},
      {"action": "free_requested", "addr": 1000448, "size": 1000, "stream": 0, "time_us": 10},
      {"action": "free_completed", "addr": 1000448, "size": 1000, "stream": 0, "time_us": 10},
      {"action": "segment_free", "addr": 8388608, "size": 20971520, "stream": 0, "time_us": 12}]]})");
  const model::Run run = model::Load(MakeSource(snapshot, "x.json")).value();
  ASSERT_EQ(run.devices.size(), 1u);
  EXPECT_EQ(run.devices[0].reserved.front().value, 2097152 + 20971520);
  EXPECT_EQ(run.devices[0].reserved.back().value, 2097152);
}

TEST(SnapshotSourceTest, SaysThatASnapshotContradictsItself) {
  // An allocation that is missing at the end but was never freed.
  const auto snapshot =
      FromJson(R"({"segments": [{"device": 0, "address": 512, "total_size": 2097152, "blocks": []}],
      "device_traces": [[{"action": "alloc", "addr": 1024, "size": 5, "stream": 0}]]})");
  EXPECT_THAT(MakeSource(snapshot, "x.json")->damage().sentence,
              HasSubstr("contradicts itself: 1 of its events"));
}

TEST(FromSourceTest, EndsInTheStateThatTheSnapshotHad) {
  const auto original = FromJson(kMiddle);
  const model::Run run = model::Load(MakeSource(original, "x.json")).value();
  const Snapshot copy = FromSource(*run.source, run, {}).value();
  ASSERT_EQ(copy.segments.size(), original->segments.size());
  for (size_t i = 0; i < copy.segments.size(); ++i) {
    EXPECT_EQ(copy.segments[i].address, original->segments[i].address);
    EXPECT_EQ(copy.segments[i].bytes, original->segments[i].bytes);
    ASSERT_EQ(copy.segments[i].blocks.size(), original->segments[i].blocks.size());
    for (size_t j = 0; j < copy.segments[i].blocks.size(); ++j) {
      EXPECT_EQ(copy.segments[i].blocks[j].bytes, original->segments[i].blocks[j].bytes);
      EXPECT_EQ(copy.segments[i].blocks[j].state, original->segments[i].blocks[j].state);
    }
  }
  std::string pickle;
  TextSink sink(&pickle);
  ASSERT_TRUE(WritePickle(copy, &sink).ok());
  const auto read = ReadBytes({reinterpret_cast<const uint8_t*>(pickle.data()), pickle.size()}, "x.pickle");
  ASSERT_TRUE(read.ok()) << read.error().sentence;
  EXPECT_EQ((*read)->events.size(), copy.events.size());
  EXPECT_EQ((*read)->segments.size(), copy.segments.size());
}

// Three blocks with one segment each: one is in use, one waits for another stream, one was free at once.
// Nothing has completed yet, so the file has no completion event.
constexpr const char* kWaiting = R"({"segments": [
  {"device": 0, "address": 4096000, "total_size": 2097152, "stream": 0, "segment_type": "large", "blocks": [
    {"address": 4096000, "size": 2097152, "requested_size": 2097152, "state": "active_allocated", "frames": []}]},
  {"device": 0, "address": 8388608, "total_size": 2097152, "stream": 0, "segment_type": "large", "blocks": [
    {"address": 8388608, "size": 2097152, "requested_size": 2097152, "state": "active_pending_free", "frames": []}]},
  {"device": 0, "address": 12582912, "total_size": 2097152, "stream": 0, "segment_type": "large", "blocks": [
    {"address": 12582912, "size": 2097152, "requested_size": 0, "state": "inactive", "frames": []}]}],
  "device_traces": [[
    {"action": "segment_alloc", "addr": 4096000, "size": 2097152, "stream": 0, "time_us": 10},
    {"action": "alloc", "addr": 4096000, "size": 2097152, "stream": 0, "time_us": 11},
    {"action": "segment_alloc", "addr": 8388608, "size": 2097152, "stream": 0, "time_us": 12},
    {"action": "alloc", "addr": 8388608, "size": 2097152, "stream": 0, "time_us": 13},
    {"action": "segment_alloc", "addr": 12582912, "size": 2097152, "stream": 0, "time_us": 14},
    {"action": "alloc", "addr": 12582912, "size": 2097152, "stream": 0, "time_us": 15},
    {"action": "free_requested", "addr": 12582912, "size": 2097152, "stream": 0, "time_us": 16},
    {"action": "free_requested", "addr": 8388608, "size": 2097152, "stream": 0, "time_us": 17}]]})";

TEST(FromSourceTest, ABlockThatWaitsForAnotherStreamStillWaitsAfterTheWayThroughATrace) {
  const model::Run run = model::Load(MakeSource(FromJson(kWaiting), "x.json")).value();
  const Snapshot copy = FromSource(*run.source, run, {}).value();
  ASSERT_EQ(copy.segments.size(), 3u);
  std::vector<BlockState> states;
  for (const Segment& segment : copy.segments) states.push_back(segment.blocks.front().state);
  EXPECT_THAT(states,
              testing::ElementsAre(BlockState::kAllocated, BlockState::kPendingFree, BlockState::kInactive));
}

TEST(HistoryTest, HasTheEventsAndTheSegmentsOfTheFile) {
  const allocator::History history = HistoryOf(*FromJson(kMiddle), 0);
  ASSERT_EQ(history.events.size(), 4u);
  EXPECT_EQ(history.events[2].action, allocator::Action::kSegmentAlloc);
  EXPECT_EQ(history.events[3].time_ns, 3000u);  // since the first event
  EXPECT_EQ(history.events[3].pool, allocator::kUnknownPool);
  ASSERT_EQ(history.segments.size(), 2u);
  EXPECT_TRUE(history.has_segments);
  EXPECT_EQ(history.segments[1].blocks[1].use, allocator::BlockUse::kFree);
}

// In PyTorch, the text is that of the last call of _set_allocator_settings, and the values next to it are the
// effective ones.
TEST(HistoryTest, SettingsOfEarlierCallsAreKeptBesideTheLastText) {
  const auto settings = [](const std::string& values) {
    const std::string text = R"({"segments": [], "allocator_settings": {)" + values + "}}";
    return HistoryOf(*FromJson(text), 0).settings;
  };
  EXPECT_EQ(settings(R"("PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:128", "max_split_size": 134217728,
                        "expandable_segments": true)"),
            "expandable_segments:True,max_split_size_mb:128");
  EXPECT_EQ(
      settings(R"("PYTORCH_CUDA_ALLOC_CONF": "expandable_segments : True", "expandable_segments": true)"),
      "expandable_segments : True");
  EXPECT_EQ(settings(R"("max_split_size": -1, "expandable_segments": false,
                        "roundup_power2_divisions": {"256": 1, "512": 4})"),
            "roundup_power2_divisions:[256:1,512:4]");
  EXPECT_EQ(settings(R"("max_split_size": -1)"), "");
}

}  // namespace
}  // namespace vramscope::snapshot
