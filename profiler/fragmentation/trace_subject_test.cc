// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/trace_subject.h"

#include <gtest/gtest.h>

#include "profiler/allocator/replay.h"
#include "profiler/fragmentation/answer.h"
#include "profiler/fragmentation/snapshot_subject.h"
#include "profiler/model/testing/driver_script.h"
#include "profiler/snapshot/read.h"
#include "profiler/snapshot/source.h"

namespace vramscope::fragmentation {
namespace {

using model::testing::DriverScript;
using model::testing::kMiB;

constexpr uint64_t kAddress = 0x7f00'0000'0000;

// One rank ends while it has a block in a segment, and another rank continues.
DriverScript TwoRanks() {
  DriverScript s;
  s.EndingProcess(101, 200);
  s.Process(100).Device(model::testing::kCuda0);
  s.Process(101).At(0).Device(model::testing::kCuda0);
  s.Take("libc10_cuda.so", kAddress, 20 * kMiB).Block("weight", kAddress, 4 * kMiB, 20 * kMiB);
  s.Block("hidden", kAddress + 4 * kMiB, 2 * kMiB, 20 * kMiB).Unblock("hidden");
  s.Process(100).At(300).OnDevice(model::testing::kCuda0);
  s.Take("libc10_cuda.so", kAddress, 20 * kMiB).Block("other", kAddress, 4 * kMiB, 20 * kMiB);
  return s;
}

model::DeviceIndex DeviceOfProcess(const model::Run& run, uint32_t pid) {
  for (model::DeviceIndex device = 0; device < run.devices.size(); ++device)
    if (run.processes[run.devices[device].process].info.pid == pid) return device;
  return model::kNone;
}

TEST(TraceSubjectTest, WhatEndsWithAProcessIsNoDecisionOfItsAllocator) {
  const model::Run run = TwoRanks().Load();
  ASSERT_NE(run.driver.segments.front().end, model::kNever);
  const classify::Analysis analysis(run);
  const Subject subject = SubjectOf(analysis, DeviceOfProcess(run, 101)).value();
  for (const allocator::Event& event : subject.history.events)
    EXPECT_NE(event.action, allocator::Action::kSegmentFree);
  const LayoutWalk walk(subject.history, subject.rules);
  EXPECT_EQ(walk.troubles().total(), 0u);
  EXPECT_EQ(walk.At(walk.end()).Total().reserved, 20 * kMiB);
  EXPECT_TRUE(allocator::Replay(subject.history)->exact());
}

// The run has blocks of 256 bytes, which PyTorch's allocator cannot create.
TEST(TraceSubjectTest, ARunOfTensorFlowIsReplayedOnItsOwnAllocator) {
  DriverScript s;
  s.trace().SetMetadata("tensorflow.version", "2.21.0");
  s.Device(model::testing::kCuda0);
  s.Event(trace::EventType::kSegment, {kAddress, 2 * kMiB, model::testing::kCuda0, 0, 1, 0});
  s.Block("first", kAddress, 1024).Block("second", kAddress + 1024, 256).Unblock("first");
  s.Block("third", kAddress, 512).Block("fourth", kAddress + 512, 256).Block("fifth", kAddress + 768, 256);
  const model::Run run = s.Load();
  const classify::Analysis analysis(run);
  Subject subject = SubjectOf(analysis, 0).value();
  EXPECT_TRUE(allocator::Replay(subject.history)->exact());
  const LayoutWalk walk(subject.history, subject.rules);
  EXPECT_EQ(walk.troubles().total(), 0u);
  EXPECT_EQ(walk.At(walk.end()).Total().allocated, 1280u);
  subject.history.model = allocator::Model::kPyTorch;
  EXPECT_FALSE(allocator::Replay(subject.history)->exact());
}

TEST(TraceSubjectTest, MomentsAreEventsOfTheRun) {
  const model::Run run = TwoRanks().Load();
  const classify::Analysis analysis(run);
  const Subject subject = SubjectOf(analysis, DeviceOfProcess(run, 101)).value();
  const LayoutWalk walk(subject.history, subject.rules);
  EXPECT_EQ(subject.MomentAfter(model::kNever), 0u);
  EXPECT_EQ(subject.MomentAfter(run.event_count() - 1), walk.end());
  const Moment peak = FindMoment(subject, walk, "peak").value();
  EXPECT_EQ(walk.At(peak).Total().allocated, 6 * kMiB);
  EXPECT_EQ(FindMoment(subject, walk, "event:" + std::to_string(subject.TraceEvents(peak))).value(), peak);
  EXPECT_EQ(FindMoment(subject, walk, "event:0").value(), 0u);
  const uint64_t events = run.event_count();
  EXPECT_EQ(FindMoment(subject, walk, "event:" + std::to_string(events)).value(), walk.end());
  EXPECT_FALSE(FindMoment(subject, walk, "event:" + std::to_string(events + 1)).ok());
  EXPECT_FALSE(FindMoment(subject, walk, "oom").ok());
}

// Two streams. One segment exists before the history and is given back at its end; another one is allocated.
constexpr const char* kSnapshot = R"({"segments": [
  {"device": 0, "address": 8388608, "total_size": 20971520, "stream": 7, "segment_type": "large", "blocks": [
    {"address": 8388608, "size": 2097152, "requested_size": 2097152, "state": "active_allocated", "frames": []},
    {"address": 10485760, "size": 18874368, "requested_size": 0, "state": "inactive", "frames": []}]}],
  "device_traces": [[
    {"action": "free_requested", "addr": 1001472, "size": 700, "stream": 0, "time_us": 10},
    {"action": "free_completed", "addr": 1001472, "size": 700, "stream": 0, "time_us": 10},
    {"action": "segment_alloc", "addr": 8388608, "size": 20971520, "stream": 7, "time_us": 12},
    {"action": "alloc", "addr": 8388608, "size": 2097152, "stream": 7, "time_us": 13},
    {"action": "segment_free", "addr": 1000448, "size": 2097152, "stream": 0, "time_us": 14}]]})";

TEST(TraceSubjectTest, ATraceThatWasMadeOfASnapshotHasTheLayoutOfTheSnapshot) {
  const std::string text = kSnapshot;
  const auto snapshot =
      snapshot::ReadBytes({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "x.json").value();
  const model::Run run = model::Load(snapshot::MakeSource(snapshot, "x.json")).value();
  const Subject ours = PlacedSubjectOf(run, 0).value().subject;
  const Subject theirs = SubjectOf(snapshot, {}, nullptr).value();
  ASSERT_TRUE(ours.has_layout);
  EXPECT_FALSE(ours.history.complete) << "blocks were there before";
  const LayoutWalk our_walk(ours.history, ours.rules), their_walk(theirs.history, theirs.rules);
  EXPECT_EQ(our_walk.troubles().total(), 0u);
  for (const char* at : {"reserved", "peak", "end"}) {
    const Layout our = our_walk.At(FindMoment(ours, our_walk, at).value());
    const Layout their = their_walk.At(FindMoment(theirs, their_walk, at).value());
    EXPECT_EQ(our.Total().reserved, their.Total().reserved) << at;
    EXPECT_EQ(our.Total().allocated, their.Total().allocated) << at;
    EXPECT_EQ(our.Total().whole, their.Total().whole) << at;
  }
}

}  // namespace
}  // namespace vramscope::fragmentation
