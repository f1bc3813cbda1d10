// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/device.h"

#include <gtest/gtest.h>

#include <cstring>

#include "injector/simulated_cuda/abi.h"

namespace vramscope::simulated {
namespace {

constexpr uint64_t kMebibyte = 1 << 20;
constexpr Origin kTest = {"cudaMalloc", nullptr};

TEST(DeviceTest, FillsUpToItsCapacityAndNotOneGranuleMore) {
  SharedUse use(nullptr);
  Device device(0, 6 * kMebibyte, use);
  uint64_t first = 0, second = 0, third = 0;
  EXPECT_EQ(device.Allocate(1, kTest, &first), kSuccess);
  EXPECT_EQ(device.free_bytes(), 4 * kMebibyte) << "one byte takes a granule";
  EXPECT_EQ(device.Allocate(5 * kMebibyte, kTest, &second), kOutOfMemory);
  EXPECT_EQ(device.Allocate(4 * kMebibyte, kTest, &second), kSuccess);
  EXPECT_EQ(device.Allocate(1, kTest, &third), kOutOfMemory);
  EXPECT_EQ(device.Free(first), kSuccess);
  EXPECT_EQ(device.Allocate(2 * kMebibyte, kTest, &third), kSuccess);
  EXPECT_EQ(third, first);
}

TEST(DeviceTest, RefusesWhatIsNoAllocation) {
  SharedUse use(nullptr);
  Device device(0, 6 * kMebibyte, use);
  uint64_t address = 0;
  EXPECT_EQ(device.Allocate(0, kTest, &address), kInvalidValue);
  ASSERT_EQ(device.Allocate(kMebibyte, kTest, &address), kSuccess);
  EXPECT_EQ(device.Free(address + 512), kInvalidValue);
  EXPECT_EQ(device.Free(address), kSuccess);
  EXPECT_EQ(device.Free(address), kInvalidValue);
}

TEST(DeviceTest, FindsTheAllocationAroundAnAddress) {
  SharedUse use(nullptr);
  Device device(0, 64 * kMebibyte, use);
  uint64_t address = 0;
  ASSERT_EQ(device.Allocate(3 * kMebibyte, kTest, &address), kSuccess);
  EXPECT_EQ(device.Find(address + 3 * kMebibyte - 1).address, address);
  EXPECT_EQ(device.Find(address + 3 * kMebibyte).address, 0u) << "the rounding is not the caller's";
}

TEST(DeviceTest, MemoryThatIsHandedOutAgainIsZero) {
  SharedUse use(nullptr);
  Device device(0, 64 * kMebibyte, use);
  uint64_t address = 0;
  ASSERT_EQ(device.Allocate(kMebibyte, kTest, &address), kSuccess);
  device.region().MarkWritten(address, 8);
  std::memset(reinterpret_cast<void*>(address), 0xff, 8);
  device.Free(address);
  ASSERT_EQ(device.Allocate(kMebibyte, kTest, &address), kSuccess);
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(address), 0u);
}

TEST(DeviceTest, TheLedgerAddsUpByCall) {
  SharedUse use(nullptr);
  Device device(0, 64 * kMebibyte, use);
  uint64_t first = 0, second = 0;
  device.Allocate(2 * kMebibyte, kTest, &first);
  device.Allocate(4 * kMebibyte, kTest, &second);
  LedgerRow* const physical = device.TakePhysical(8 * kMebibyte, {"cuMemCreate", nullptr});
  device.Free(second);
  device.ReadLedger([](const Ledger& ledger) {
    EXPECT_EQ(ledger.live_bytes(), 10 * kMebibyte);
    EXPECT_EQ(ledger.peak_bytes(), 14 * kMebibyte);
    ASSERT_EQ(ledger.end() - ledger.begin(), 2);
    EXPECT_STREQ(ledger.begin()->call, "cudaMalloc");
    EXPECT_EQ(ledger.begin()->live_bytes, 2 * kMebibyte);
    EXPECT_EQ(ledger.begin()->peak_bytes, 6 * kMebibyte);
    EXPECT_EQ(ledger.begin()->takes, 2u);
    EXPECT_EQ(ledger.begin()->gives, 1u);
  });
  device.GivePhysical(physical, 8 * kMebibyte);
  EXPECT_EQ(device.free_bytes(), 62 * kMebibyte);
}

}  // namespace
}  // namespace vramscope::simulated
