// SPDX-License-Identifier: Apache-2.0
// Oracle: histories worked out by hand from the rules of tsl::BFCAllocator.
#include "profiler/allocator/bfc/bfc_replay.h"

#include <gtest/gtest.h>

#include <utility>

namespace vramscope::allocator {
namespace {

constexpr uint64_t kMebibyte = uint64_t{1} << 20;
constexpr uint64_t kRegion = uint64_t{1} << 32;

class Record {
 public:
  Record() { history.model = Model::kBfc; }
  Record& Region(uint64_t address, uint64_t bytes) { return Add(Action::kSegmentAlloc, address, bytes); }
  Record& RegionGone(uint64_t address, uint64_t bytes) { return Add(Action::kSegmentFree, address, bytes); }
  Record& Block(uint64_t address, uint64_t bytes) { return Add(Action::kAlloc, address, bytes); }
  Record& Freed(uint64_t address) {
    return Add(Action::kFreeRequested, address, 0).Add(Action::kFreeCompleted, address, 0);
  }
  Record& Failed(uint64_t bytes) { return Add(Action::kOutOfMemory, 0, bytes); }

  History history;

 private:
  Record& Add(Action action, uint64_t address, uint64_t bytes) {
    Event event;
    event.action = action;
    event.address = address;
    event.bytes = bytes;
    history.events.push_back(event);
    return *this;
  }
};

// One region of 64 MiB, taken as a whole at the start; then a request that does not fit.
Record Preallocated() {
  Record record;
  record.Region(kRegion, 64 * kMebibyte).Block(kRegion, 1000).Block(kRegion + 1024, 30 * kMebibyte);
  record.Freed(kRegion).Block(kRegion, 500).Failed(40 * kMebibyte);
  return record;
}

// Regions of 2 and 4 MiB; the first is given back for a request of 3 MiB.
Record Growing() {
  Record record;
  record.Region(kRegion, 2 * kMebibyte).Block(kRegion, kMebibyte);
  record.Region(2 * kRegion, 4 * kMebibyte).Block(2 * kRegion, 3 * kMebibyte);
  record.Freed(kRegion).RegionGone(kRegion, 2 * kMebibyte);
  record.Region(3 * kRegion, 3 * kMebibyte).Block(3 * kRegion, 3 * kMebibyte);
  return record;
}

TEST(BfcReplayTest, AllEventsOfARegionThatWasTakenAtTheStartAreExact) {
  const Record record = Preallocated();
  EXPECT_FALSE(bfc::OptionsOf(record.history).allow_growth);
  const ReplayResult result = Replay(record.history).value();
  EXPECT_TRUE(result.exact()) << result.first_divergence->recorded << result.first_divergence->model;
  EXPECT_EQ(result.events_exact, record.history.events.size());
  EXPECT_EQ(result.peak.allocated_bytes, 30 * kMebibyte + 1024);
  EXPECT_EQ(result.peak.reserved_bytes, 64 * kMebibyte);
}

TEST(BfcReplayTest, RegionsThatGrowAndGoAreTheDriversAnswers) {
  const Record record = Growing();
  EXPECT_TRUE(bfc::OptionsOf(record.history).allow_growth);
  EXPECT_TRUE(bfc::OptionsOf(record.history).garbage_collection);
  const ReplayResult result = Replay(record.history).value();
  EXPECT_TRUE(result.exact()) << result.first_divergence->recorded << result.first_divergence->model;
}

TEST(BfcReplayTest, AnAddressThatTheAllocatorWouldNotChooseIsTheFirstDivergence) {
  Record record = Preallocated();
  record.history.events[2].address += 256;
  const ReplayResult result = Replay(record.history).value();
  ASSERT_TRUE(result.first_divergence.has_value());
  EXPECT_EQ(result.first_divergence->event, 2u);
  EXPECT_EQ(result.events_exact, 2u);
}

TEST(BfcReplayTest, ARegionThatNoRequestNeededIsADivergence) {
  Record record = Preallocated();
  record.Region(2 * kRegion, kMebibyte).Block(kRegion + 512, 256);
  const ReplayResult result = Replay(record.history).value();
  ASSERT_TRUE(result.first_divergence.has_value());
  EXPECT_EQ(result.first_divergence->model, "other regions");
}

TEST(BfcReplayTest, TheSameRequestsWithAnotherCapacity) {
  const Record record = Preallocated();
  RerunRequest request;
  EXPECT_EQ(Rerun(record.history, request)->failed_requests, 0u) << "a recorded failure is not repeated";
  request.last_event = record.history.events.size() - 1;
  EXPECT_EQ(Rerun(record.history, request)->failed_requests, 1u);
  request.capacity = 80 * kMebibyte;
  EXPECT_EQ(Rerun(record.history, request)->failed_requests, 0u);
  request.capacity = 20 * kMebibyte;
  EXPECT_EQ(Rerun(record.history, request)->first_failure, 2u);
}

TEST(BfcReplayTest, SettingsOfTensorFlowAndNoOthers) {
  const Record record = Preallocated();
  RerunRequest request;
  request.settings = "allow_growth:True";
  EXPECT_EQ(Rerun(record.history, request)->peak.reserved_bytes, 34 * kMebibyte) << "2 and 32";
  for (const char* wrong : {"expandable_segments:True", "allow_growth", "fragmentation_fraction:2"}) {
    request.settings = wrong;
    EXPECT_FALSE(Rerun(record.history, request).ok()) << wrong;
  }
}

}  // namespace
}  // namespace vramscope::allocator
