// SPDX-License-Identifier: Apache-2.0
// Oracle: std::map over the same random allocations and frees.
#include "profiler/collector/order/memory_totals.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>

namespace vramscope::collector {
namespace {

using trace::Event;
using trace::EventType;

constexpr uint64_t kCpu = trace::DeviceCode(0, 0xFF);
constexpr uint64_t kGpu = trace::DeviceCode(1, 0);

Event Alloc(uint64_t address, uint64_t size, uint64_t device, uint64_t total = 0) {
  Event event;
  event.type = EventType::kAlloc;
  event.field[trace::alloc::kAddress] = address;
  event.field[trace::alloc::kSize] = size;
  event.field[trace::alloc::kDevice] = device;
  event.field[trace::alloc::kTotalAllocated] = total;
  return event;
}

Event Free(uint64_t address, uint64_t device, uint64_t total = 0) {
  Event event;
  event.type = EventType::kFree;
  event.field[trace::free_::kAddress] = address;
  event.field[trace::free_::kDevice] = device;
  event.field[trace::free_::kTotalAllocated] = total;
  return event;
}

TEST(LiveBlocksTest, HoldsWhatAMapHoldsAfterRandomInsertsAndRemovals) {
  std::mt19937_64 random(7);
  LiveBlocks blocks;
  std::map<uint64_t, uint64_t> oracle;
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t address = 64 * (1 + random() % 5000);
    if (random() % 2 == 0) {
      const auto previous = blocks.Insert({address, static_cast<uint64_t>(i), 0});
      ASSERT_EQ(previous.has_value(), oracle.contains(address)) << "seed 7";
      oracle[address] = static_cast<uint64_t>(i);
    } else {
      const auto removed = blocks.Remove(address);
      const auto expected = oracle.find(address);
      ASSERT_EQ(removed.has_value(), expected != oracle.end()) << "seed 7";
      if (!removed) continue;
      ASSERT_EQ(removed->size, expected->second) << "seed 7";
      oracle.erase(expected);
    }
    ASSERT_EQ(blocks.size(), oracle.size());
  }
}

TEST(MemoryTotalsTest, PeakIsTheHighestSumOfLiveBlocksOverAllProcesses) {
  MemoryTotals totals;
  ProcessMemory first;
  ProcessMemory second;
  totals.Alloc(first, Alloc(64, 100, kCpu));
  totals.Alloc(second, Alloc(64, 50, kCpu));
  totals.Free(first, Free(64, kCpu));
  totals.Alloc(second, Alloc(128, 20, trace::DeviceCode(0, 0)));
  EXPECT_EQ(totals.PeakBytes(), 150U);
}

TEST(MemoryTotalsTest, WhatAnEndedProcessHeldIsGone) {
  MemoryTotals totals;
  ProcessMemory first;
  totals.Alloc(first, Alloc(64, 100, kCpu));
  totals.ProcessEnded(first);
  ProcessMemory second;
  totals.Alloc(second, Alloc(64, 90, kCpu));
  EXPECT_EQ(totals.PeakBytes(), 100U);
}

TEST(MemoryTotalsTest, AnAddressThatIsHandedOutTwiceReplacesTheBlockWhoseFreeWasMissed) {
  MemoryTotals totals;
  ProcessMemory process;
  totals.Alloc(process, Alloc(64, 100, kCpu));
  totals.Alloc(process, Alloc(64, 70, kCpu));
  EXPECT_EQ(totals.PeakBytes(), 100U);
}

TEST(MemoryTotalsTest, CudaDecidesThePeakWhereItIsUsed) {
  MemoryTotals totals;
  ProcessMemory process;
  totals.Alloc(process, Alloc(64, 1000, kCpu));
  totals.Alloc(process, Alloc(4096, 10, kGpu, 10));
  EXPECT_EQ(totals.PeakBytes(), 10U);
}

TEST(MemoryTotalsTest, ReportedTotalsThatFollowFromTheEventsAgree) {
  MemoryTotals totals;
  ProcessMemory process;
  totals.Alloc(process, Alloc(512, 10, kGpu, 1010));  // 1,000 bytes existed before the first event
  totals.Alloc(process, Alloc(1024, 20, kGpu, 1030));
  totals.Free(process, Free(512, kGpu, 1020));
  EXPECT_EQ(totals.mismatches(), 0U);
}

TEST(MemoryTotalsTest, AMissedEventShowsAsOneMismatch) {
  MemoryTotals totals;
  ProcessMemory process;
  totals.Alloc(process, Alloc(512, 10, kGpu, 10));
  totals.Alloc(process, Alloc(1024, 20, kGpu, 130));  // 100 bytes were not recorded
  totals.Alloc(process, Alloc(2048, 5, kGpu, 135));
  EXPECT_EQ(totals.mismatches(), 1U);
}

TEST(MemoryTotalsTest, ATotalOfZeroIsATotalOnceTotalsAreReported) {
  MemoryTotals totals;
  ProcessMemory process;
  totals.Alloc(process, Alloc(512, 10, kGpu, 10));
  totals.Free(process, Free(512, kGpu, 0));
  totals.Alloc(process, Alloc(512, 30, kGpu, 30));
  EXPECT_EQ(totals.mismatches(), 0U);
}

}  // namespace
}  // namespace vramscope::collector
