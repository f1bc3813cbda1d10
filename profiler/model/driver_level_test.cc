// SPDX-License-Identifier: Apache-2.0
// The driver level from synthetic traces. The oracle of the last test is a simple device model: a random
// program allocates and frees memory of all kinds, and after every call the rows must sum to that device's
// count.
#include "profiler/model/driver_level.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "profiler/model/testing/driver_script.h"

namespace vramscope::model {
namespace {

using testing::DriverScript;
using testing::kCuda0;
using testing::kCuda1;
using testing::kMiB;
using trace::DriverMemory;

constexpr const char* kTorch = "libc10_cuda.so";

// The process's use of the device at the end of the script.
DriverUse UseOf(const Run& run, EventIndex at = kNever, ProcessIndex process = 0, uint16_t code = kCuda0) {
  const DriverDevice* device = run.driver.Find(process, code);
  return device == nullptr ? DriverUse{} : device->UseAfter(at, process);
}

int64_t SumOf(const DriverUse& use) {
  return std::accumulate(std::begin(use.owners), std::end(use.owners), int64_t{0}) + use.other_processes +
         use.unattributed;
}

TEST(DriverLevelTest, LibrariesAreKnownByTheirFileNames) {
  EXPECT_EQ(OwnerOfLibrary("libc10_cuda.so"), DriverOwner::kPyTorch);
  EXPECT_EQ(OwnerOfLibrary("/venv/torch/lib/libtorch_cuda.so"), DriverOwner::kPyTorchBeside);
  EXPECT_EQ(OwnerOfLibrary("/venv/nvidia/nccl/lib/libnccl.so.2"), DriverOwner::kNccl);
  EXPECT_EQ(OwnerOfLibrary("libcublas.so.13"), DriverOwner::kCublas);
  EXPECT_EQ(OwnerOfLibrary("libcublasLt.so.12"), DriverOwner::kCublas);
  EXPECT_EQ(OwnerOfLibrary("libcudnn_engines_precompiled.so.9"), DriverOwner::kCudnn);
  EXPECT_EQ(OwnerOfLibrary("libcufft.so.12"), DriverOwner::kCudaLibraries);
  EXPECT_EQ(OwnerOfLibrary("libcusolver.so.12"), DriverOwner::kCudaLibraries);
  EXPECT_EQ(OwnerOfLibrary("fused.cpython-311-x86_64-linux-gnu.so"), DriverOwner::kUser);
  EXPECT_EQ(OwnerOfLibrary("libcuda_tools.so"), DriverOwner::kUser);
  EXPECT_EQ(OwnerOfLibrary(""), DriverOwner::kUser);
}

TEST(DriverLevelTest, RowsSumToWhatTheDriverSaysAtEveryEvent) {
  DriverScript s;
  s.Context(300 * kMiB).Total(300 * kMiB);
  s.Take(kTorch, 0x7f0000000000, 20 * kMiB).Take("libnccl.so.2", 0x7f0010000000, 64 * kMiB);
  const EventIndex with_nccl = s.last_event();
  s.Take("fused.so", 0x7f0020000000, 8 * kMiB).Total(400 * kMiB);
  s.GiveBack(0x7f0010000000);
  const auto run = s.Load();

  const DriverUse before = UseOf(run, with_nccl);
  EXPECT_EQ(before.Of(DriverOwner::kNccl), int64_t{64 * kMiB});
  EXPECT_EQ(before.used, 384 * kMiB)
      << "the driver was not asked again: what it said and what was taken since";
  EXPECT_EQ(before.unattributed, 0);
  const DriverUse end = UseOf(run);
  EXPECT_EQ(end.Of(DriverOwner::kPyTorch), int64_t{20 * kMiB});
  EXPECT_EQ(end.Of(DriverOwner::kContext), int64_t{300 * kMiB});
  EXPECT_EQ(end.Of(DriverOwner::kNccl), 0);
  EXPECT_EQ(end.unattributed, int64_t{8 * kMiB}) << "the driver counted 8 MiB that nobody was seen to take";
  EXPECT_EQ(end.used, 336 * kMiB);
  EXPECT_EQ(run.anomalies.driver_mismatches, 1u);
  const DriverDevice& device = run.driver.devices.at(0);
  EXPECT_EQ(device.peak_used(), 400 * kMiB);
  for (EventIndex at = 1; at < run.event_count(); ++at) {
    EXPECT_EQ(static_cast<uint64_t>(SumOf(UseOf(run, at))), device.UsedAfter(at)) << at;
  }
  std::vector<std::string> libraries;
  for (const auto& row : device.RowsAfter(kNever)) libraries.emplace_back(run.Text(row.row.library));
  EXPECT_THAT(libraries, ::testing::Contains("fused.so")) << "user code is told by its library";
}

TEST(DriverLevelTest, FailedCallsTakeNothing) {
  DriverScript s;
  s.Take(kTorch, 0x7f0000000000, 20 * kMiB, DriverMemory::kDevice, 2);
  s.Take(kTorch, 0x5001, 20 * kMiB, DriverMemory::kPhysical, 2).Map(0x7f0000000000, 20 * kMiB, 0x5001, 1);
  s.Take(kTorch, 0x7f0010000000, 2 * kMiB).GiveBack(0x7f0010000000, DriverMemory::kDevice, 1);
  const auto run = s.Load();
  EXPECT_EQ(UseOf(run).Of(DriverOwner::kPyTorch), int64_t{2 * kMiB})
      << "a free that failed gave nothing back";
  EXPECT_EQ(run.driver.allocations.size(), 1u);
  EXPECT_EQ(run.driver.failed, 4u);
  EXPECT_EQ(run.driver.calls, 5u);
}

TEST(DriverLevelTest, TheDriverIsNeverContradictedQuietly) {
  DriverScript s;
  s.Context(300 * kMiB).Take(kTorch, 0x7f0000000000, 20 * kMiB).Total(310 * kMiB);
  const auto run = s.Load();
  EXPECT_EQ(UseOf(run).unattributed, -int64_t{10 * kMiB})
      << "more is known to be taken than the driver counts";
  EXPECT_EQ(UseOf(run).used, 310 * kMiB);
  EXPECT_EQ(run.anomalies.driver_below_rows, 1u);
  s.GiveBack(0x1234000).Take(kTorch, 0x7f0000000000, 4 * kMiB);
  const auto broken = s.Load();
  EXPECT_EQ(broken.anomalies.driver_unknown_frees, 1u);
  EXPECT_EQ(broken.anomalies.driver_double_allocs, 1u);
  EXPECT_EQ(UseOf(broken).Of(DriverOwner::kPyTorch), int64_t{4 * kMiB}) << "the one before must have gone";
}

TEST(DriverLevelTest, PhysicalMemoryLivesAsLongAsAHandleOrAMapping) {
  DriverScript s;
  s.Take(kTorch, 0x5001, 2 * kMiB, DriverMemory::kPhysical).Map(0x7f0000000000, 2 * kMiB, 0x5001);
  s.GiveBack(0x5001, DriverMemory::kPhysical);
  const EventIndex released = s.last_event();
  // The handle is reused for new memory while the old memory is still mapped.
  s.Take(kTorch, 0x5001, 4 * kMiB, DriverMemory::kPhysical).Map(0x7f0000200000, 4 * kMiB, 0x5001);
  s.Take(kTorch, 0x5001, 4 * kMiB, DriverMemory::kReference);
  const EventIndex both = s.last_event();
  s.Unmap(0x7f0000000000, 6 * kMiB);
  const EventIndex unmapped = s.last_event();
  s.GiveBack(0x5001, DriverMemory::kPhysical);
  const EventIndex once = s.last_event();
  s.GiveBack(0x5001, DriverMemory::kPhysical);
  const auto run = s.Load();
  const auto torch = [&](EventIndex at) { return UseOf(run, at).Of(DriverOwner::kPyTorch); };
  EXPECT_EQ(torch(released), int64_t{2 * kMiB}) << "mapped";
  EXPECT_EQ(torch(both), int64_t{6 * kMiB});
  EXPECT_EQ(torch(unmapped), int64_t{4 * kMiB}) << "two handles are left";
  EXPECT_EQ(torch(once), int64_t{4 * kMiB});
  EXPECT_EQ(torch(kNever), 0);
  EXPECT_EQ(run.driver.allocations[0].end, unmapped);
  ASSERT_EQ(run.driver.segments.size(), 2u);
  EXPECT_EQ(run.driver.segments[1].address, 0x7f0000200000u);
  EXPECT_EQ(run.driver.segments[1].end, unmapped);
  EXPECT_TRUE(run.driver.segments[1].mapped);
}

TEST(DriverLevelTest, WhatTakesNothingCountsForNothing) {
  DriverScript s;
  s.Context(10 * kMiB).Total(10 * kMiB);
  for (const DriverMemory kind : {DriverMemory::kReservation, DriverMemory::kImported,
                                  DriverMemory::kMulticast, DriverMemory::kReference, DriverMemory::kGraph}) {
    s.Take(kTorch, 0x7f0000000000 + static_cast<uint64_t>(kind) * 0x10000000, 512 * kMiB, kind);
  }
  s.Take(kTorch, 0x600000000000, 5 * kMiB, DriverMemory::kHostPinned);
  s.Take("libnccl.so.2", 0x600010000000, 3 * kMiB, DriverMemory::kHostRegistered).Total(10 * kMiB);
  const auto run = s.Load();
  EXPECT_EQ(UseOf(run).used, 10 * kMiB);
  EXPECT_EQ(UseOf(run).unattributed, 0);
  EXPECT_EQ(run.anomalies.driver_mismatches, 0u);
  ASSERT_EQ(run.driver.pinned.size(), 1u);
  EXPECT_EQ(run.driver.pinned[0].bytes.back().value, int64_t{8 * kMiB});
  EXPECT_EQ(run.driver.pinned[0].by_pytorch.back().value, int64_t{5 * kMiB});
}

TEST(DriverLevelTest, SmallAllocationsShareAPage) {
  DriverScript s;
  s.Take("a.so", 0x7f0000000000, 4096);
  const EventIndex one = s.last_event();
  s.Take("b.so", 0x7f0000001000, kMiB);
  const EventIndex two = s.last_event();
  s.Take("a.so", 0x7f0000400000, 3 * kMiB);
  const EventIndex three = s.last_event();
  s.GiveBack(0x7f0000000000);
  const EventIndex freed = s.last_event();
  s.GiveBack(0x7f0000001000);
  const auto run = s.Load();
  const auto taken = [&](EventIndex at) { return SumOf(UseOf(run, at)); };
  EXPECT_EQ(taken(one), int64_t{2 * kMiB});
  EXPECT_EQ(taken(two), int64_t{2 * kMiB}) << "in the same page";
  EXPECT_EQ(taken(three), int64_t{6 * kMiB});
  EXPECT_EQ(taken(freed), int64_t{6 * kMiB}) << "the page is still in use";
  EXPECT_EQ(taken(kNever), int64_t{4 * kMiB});
  EXPECT_EQ(UseOf(run).Of(DriverOwner::kRounding), int64_t{kMiB});
}

TEST(DriverLevelTest, PoolsHoldTheirBlocksAndWhatIsFreeBetween) {
  DriverScript s;
  constexpr uint64_t kPool = 0x700;
  s.Pool(kPool, 32 * kMiB, 0);
  s.Take(kTorch, 0x7f0000000000, 8 * kMiB, DriverMemory::kPoolBlock, 0, kPool);
  s.Take("user.so", 0x7f0000800000, 4 * kMiB, DriverMemory::kPoolBlock, 0, kPool);
  const EventIndex full = s.last_event();
  s.GiveBack(0x7f0000000000).Pool(kPool, 32 * kMiB, 4 * kMiB);
  const EventIndex kept = s.last_event();
  s.GiveBack(0x7f0000800000, DriverMemory::kPoolBlock).Pool(kPool, 0, 0);
  const auto run = s.Load();
  EXPECT_EQ(UseOf(run, full).Of(DriverOwner::kPyTorch), int64_t{8 * kMiB});
  EXPECT_EQ(UseOf(run, full).Of(DriverOwner::kUser), int64_t{4 * kMiB});
  EXPECT_EQ(UseOf(run, full).Of(DriverOwner::kPools), int64_t{20 * kMiB});
  EXPECT_EQ(SumOf(UseOf(run, full)), int64_t{32 * kMiB});
  EXPECT_EQ(SumOf(UseOf(run, kept)), int64_t{32 * kMiB});
  EXPECT_EQ(SumOf(UseOf(run)), 0);
}

TEST(DriverLevelTest, ABlockKnowsItsSegmentAlsoWhenTheAddressIsUsedAgain) {
  DriverScript s;
  s.Take(kTorch, 0x7f0000000000, 2 * kMiB);
  s.Block("first", 0x7f0000000200, 512, 2 * kMiB).Unblock("first").GiveBack(0x7f0000000000);
  s.Take(kTorch, 0x5001, 20 * kMiB, DriverMemory::kPhysical).Map(0x7f0000000000, 20 * kMiB, 0x5001);
  s.Block("second", 0x7f0000000200, 512, 20 * kMiB);
  s.Block("outside", 0x7e0000000000, 512, 22 * kMiB);
  const auto run = s.Load();
  ASSERT_EQ(run.driver.segments.size(), 2u);
  EXPECT_EQ(run.driver.SegmentOf(0), 0u);
  EXPECT_EQ(run.driver.SegmentOf(1), 1u);
  EXPECT_EQ(run.driver.SegmentOf(2), kNone);
  EXPECT_EQ(run.anomalies.blocks_outside_segments, 1u);
  EXPECT_EQ(run.anomalies.segment_mismatches, 1u) << "22 MiB reserved, 20 MiB of segments";
}

TEST(DriverLevelTest, ProcessesOnOneDeviceAreTheOthersOfEachOther) {
  DriverScript s;
  s.Process(100).Context(300 * kMiB).Take(kTorch, 0x7f0000000000, 20 * kMiB);
  s.Process(200).Context(400 * kMiB).Total(720 * kMiB);
  const auto run = s.Load();
  EXPECT_EQ(UseOf(run, kNever, 0).other_processes, int64_t{400 * kMiB});
  EXPECT_EQ(UseOf(run, kNever, 1).other_processes, int64_t{320 * kMiB});
  EXPECT_EQ(UseOf(run, kNever, 0).unattributed, 0);
  EXPECT_EQ(UseOf(run, kNever, 0).used, 720 * kMiB);
}

TEST(DriverLevelTest, ProcessesThatCallAnotherDeviceByTheSameNameAreToldApart) {
  DriverScript s;
  s.Process(100).Context(300 * kMiB).Total(300 * kMiB);
  s.Process(200).Context(400 * kMiB).Total(400 * kMiB);
  s.Process(100).Take(kTorch, 0x7f0000000000, 20 * kMiB).Total(320 * kMiB);
  const auto run = s.Load();
  EXPECT_EQ(run.driver.devices.size(), 2u);
  EXPECT_EQ(UseOf(run, kNever, 0).used, 320 * kMiB);
  EXPECT_EQ(UseOf(run, kNever, 0).other_processes, 0);
  EXPECT_EQ(UseOf(run, kNever, 1).used, 400 * kMiB);
  EXPECT_EQ(run.anomalies.driver_mismatches, 0u);
}

TEST(DriverLevelTest, AProcessThatEndsGivesBackWhatItHad) {
  DriverScript s;
  s.Process(100).Context(300 * kMiB).Total(300 * kMiB);
  s.EndingProcess(200, 105).Context(400 * kMiB).At(100);
  s.Take("libnccl.so.2", 0x7f0000000000, 2 * kMiB);
  s.Process(100).At(110).Total(300 * kMiB);
  const auto run = s.Load();
  EXPECT_EQ(UseOf(run).used, 300 * kMiB);
  EXPECT_EQ(UseOf(run).other_processes, 0);
  EXPECT_EQ(UseOf(run).unattributed, 0);
  EXPECT_EQ(run.driver.allocations[2].end, s.last_event());
}

TEST(DriverLevelTest, UnrecordedProcessesAreNamedOnlyByTheDriver) {
  DriverScript s;
  s.Context(300 * kMiB).Total(800 * kMiB);
  EXPECT_EQ(UseOf(s.Load()).unattributed, int64_t{500 * kMiB});
  s.OtherProcess(999, 500 * kMiB).Total(800 * kMiB);
  EXPECT_EQ(UseOf(s.Load()).other_processes, int64_t{500 * kMiB});
  EXPECT_EQ(UseOf(s.Load()).unattributed, 0);
}

TEST(DriverLevelTest, CodeGoesBackAsTheDriverSaysAndNotAsItWasLoaded) {
  DriverScript s;
  constexpr uint64_t kModule = 0xc0de10;
  s.Context(300 * kMiB).Total(300 * kMiB);
  s.Take("libtorch_cuda.so", 0, 2 * kMiB, DriverMemory::kModule);  // a kernel's first launch
  s.Take("libtorch_cuda.so", 0, 4 * kMiB, DriverMemory::kModule);
  s.Take("triton.so", kModule, 6 * kMiB, DriverMemory::kModule).Total(312 * kMiB);
  s.GiveBack(kModule, DriverMemory::kModule, 0, 2 * kMiB).Total(310 * kMiB);
  const auto run = s.Load();
  EXPECT_EQ(UseOf(run).Of(DriverOwner::kContext), static_cast<int64_t>(310 * kMiB));
  EXPECT_EQ(UseOf(run).unattributed, 0);
  EXPECT_EQ(run.anomalies.driver_mismatches, 0u);
  EXPECT_EQ(run.anomalies.driver_double_allocs, 0u);
}

TEST(DriverLevelTest, ManyCallsAtEveryMomentSumToASimpleDevice) {
  constexpr unsigned kSeed = 20260;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  DriverScript s;
  const std::vector<std::string> libraries = {kTorch, "libnccl.so.2", "libcublas.so.13", "x.so"};
  struct Held {
    uint64_t address, bytes;
    DriverMemory kind;
    uint64_t mapped_at;
  };
  std::vector<Held> held;
  uint64_t used = 0;
  uint64_t next = 0x7f0000000000;
  std::vector<std::pair<EventIndex, uint64_t>> truth;
  s.Total(0);
  for (int i = 0; i < 3000; ++i) {
    if (held.empty() || random() % 5 < 3) {
      const bool physical = random() % 2 == 0;
      const uint64_t bytes = (1 + random() % 16) * 2 * kMiB;
      const Held made = {next, bytes, physical ? DriverMemory::kPhysical : DriverMemory::kDevice, next};
      next += bytes;
      s.Take(libraries[random() % libraries.size()], made.address, bytes, made.kind);
      if (physical) {
        s.Map(made.mapped_at, bytes, made.address);
        // Unlike PyTorch: the handle is released at once, the mapping keeps the memory.
        if (random() % 2 == 0)
          s.GiveBack(made.address, DriverMemory::kPhysical),
              held.push_back({0, bytes, made.kind, made.mapped_at});
        else
          held.push_back(made);
      } else {
        held.push_back(made);
      }
      used += bytes;
    } else {
      const size_t which = random() % held.size();
      const Held gone = held[which];
      held.erase(held.begin() + static_cast<ptrdiff_t>(which));
      if (gone.kind == DriverMemory::kPhysical) s.Unmap(gone.mapped_at, gone.bytes);
      if (gone.address != 0) s.GiveBack(gone.address, gone.kind);
      used -= gone.bytes;
    }
    truth.emplace_back(s.last_event(), used);
    if (random() % 50 == 0) s.Total(used);
  }
  const auto run = s.Load();
  EXPECT_EQ(run.anomalies.driver_mismatches, 0u);
  EXPECT_EQ(run.anomalies.driver_unknown_frees, 0u);
  const DriverDevice& device = run.driver.devices.at(0);
  for (const auto& [event, bytes] : truth) {
    ASSERT_EQ(device.UsedAfter(event), bytes) << event;
    ASSERT_EQ(SumOf(device.UseAfter(event, 0)), static_cast<int64_t>(bytes)) << event;
  }
}

}  // namespace
}  // namespace vramscope::model
