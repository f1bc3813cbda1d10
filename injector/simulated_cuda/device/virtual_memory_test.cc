// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/virtual_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/device/device.h"

namespace vramscope::simulated {
namespace {

constexpr Origin kTest = {"cuMemCreate", nullptr};

class VirtualMemoryTest : public testing::Test {
 protected:
  VirtualMemoryTest() : before_(DeviceNumber(0).free_bytes()) {}
  uint64_t Taken() const { return before_ - DeviceNumber(0).free_bytes(); }

  uint64_t before_;
  VirtualMemory memory_;
};

TEST_F(VirtualMemoryTest, MemoryStaysTakenUntilHandleAndMappingsAreGone) {
  PhysicalHandle handle = 0;
  uint64_t address = 0;
  ASSERT_EQ(memory_.Create(0, 4 * kGranule, kTest, &handle), kSuccess);
  ASSERT_EQ(memory_.Reserve(0, 64 * kGranule, 0, 0, &address), kSuccess);
  EXPECT_EQ(Taken(), 4 * kGranule) << "addresses cost nothing";
  ASSERT_EQ(memory_.Map(address, 4 * kGranule, handle), kSuccess);
  EXPECT_EQ(memory_.Release(handle), kSuccess);
  EXPECT_EQ(Taken(), 4 * kGranule);
  EXPECT_EQ(memory_.FreeAddresses(address, 64 * kGranule), kInvalidValue) << "still mapped";
  EXPECT_EQ(memory_.Unmap(address, 4 * kGranule), kSuccess);
  EXPECT_EQ(Taken(), 0u);
  EXPECT_EQ(memory_.FreeAddresses(address, 64 * kGranule), kSuccess);
}

TEST_F(VirtualMemoryTest, MappingsNeitherOverlapNorLeaveTheReservation) {
  PhysicalHandle handle = 0;
  uint64_t address = 0;
  ASSERT_EQ(memory_.Create(0, 2 * kGranule, kTest, &handle), kSuccess);
  ASSERT_EQ(memory_.Reserve(0, 4 * kGranule, 0, 0, &address), kSuccess);
  ASSERT_EQ(memory_.Map(address, 2 * kGranule, handle), kSuccess);
  EXPECT_EQ(memory_.Map(address + kGranule, 2 * kGranule, handle), kInvalidValue);
  EXPECT_EQ(memory_.Map(address + 3 * kGranule, 2 * kGranule, handle), kInvalidValue);
  EXPECT_EQ(memory_.Map(address + 2 * kGranule, kGranule, handle), kInvalidValue) << "not the handle's size";
  EXPECT_EQ(memory_.Unmap(address, kGranule), kInvalidValue) << "half a mapping";
  EXPECT_EQ(memory_.Unmap(address, 2 * kGranule), kSuccess);
  memory_.Release(handle);
  memory_.FreeAddresses(address, 4 * kGranule);
}

TEST_F(VirtualMemoryTest, SeveralMappingsAreUnmappedAtOnce) {
  PhysicalHandle first = 0, second = 0;
  uint64_t address = 0;
  memory_.Create(0, kGranule, kTest, &first);
  memory_.Create(0, 2 * kGranule, kTest, &second);
  memory_.Reserve(0, 8 * kGranule, 0, 0, &address);
  memory_.Map(address, kGranule, first);
  memory_.Map(address + kGranule, 2 * kGranule, second);
  memory_.Release(first);
  memory_.Release(second);
  EXPECT_EQ(memory_.Unmap(address, 3 * kGranule), kSuccess);
  EXPECT_EQ(Taken(), 0u);
  memory_.FreeAddresses(address, 8 * kGranule);
}

TEST_F(VirtualMemoryTest, AnImportedHandleShowsTheContentsAndCostsNothing) {
  PhysicalHandle handle = 0, imported = 0, none = 0;
  uint64_t address = 0;
  int file = -1;
  ASSERT_EQ(memory_.Create(0, 2 * kGranule, kTest, &handle), kSuccess);
  ASSERT_EQ(memory_.Reserve(0, 4 * kGranule, 0, 0, &address), kSuccess);
  ASSERT_EQ(memory_.Map(address, 2 * kGranule, handle), kSuccess);
  auto* const here = reinterpret_cast<volatile int*>(address + kGranule);
  auto* const there = reinterpret_cast<volatile int*>(address + 3 * kGranule);
  DeviceNumber(0).region().MarkWritten(address + kGranule, sizeof(int));
  *here = 17;
  ASSERT_EQ(memory_.Export(handle, &file), kSuccess);
  EXPECT_EQ(*here, 17);
  ASSERT_EQ(memory_.Import(file, &imported), kSuccess);
  EXPECT_EQ(memory_.Import(0, &none), kInvalidValue);
  close(file);
  EXPECT_EQ(Taken(), 2 * kGranule);
  ASSERT_EQ(memory_.Map(address + 2 * kGranule, 2 * kGranule, imported), kSuccess);
  EXPECT_EQ(*there, 17);
  *there = 18;
  EXPECT_EQ(*here, 18);
  EXPECT_EQ(memory_.Unmap(address, 4 * kGranule), kSuccess);
  EXPECT_EQ(*here, 0);
  memory_.Release(handle);
  EXPECT_EQ(Taken(), 0u);
  EXPECT_EQ(memory_.Release(imported), kSuccess);
  memory_.FreeAddresses(address, 4 * kGranule);
}

TEST_F(VirtualMemoryTest, OddSizesAreRefused) {
  PhysicalHandle handle = 0;
  EXPECT_EQ(memory_.Create(0, kGranule + 1, kTest, &handle), kInvalidValue);
  EXPECT_EQ(memory_.Create(0, DeviceNumber(0).capacity() / kGranule * kGranule + kGranule, kTest, &handle),
            kOutOfMemory);
  EXPECT_EQ(memory_.Release(12345), kInvalidValue);
}

}  // namespace
}  // namespace vramscope::simulated
