// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/memory_pool.h"

#include <gtest/gtest.h>

#include "injector/simulated_cuda/abi.h"

namespace vramscope::simulated {
namespace {

constexpr uint64_t kChunkBytes = uint64_t{32} << 20;
constexpr Origin kTest = {"cudaMallocAsync", nullptr};

TEST(MemoryPoolTest, SmallRequestsShareAChunk) {
  MemoryPool pool(0);
  uint64_t first = 0, second = 0;
  ASSERT_EQ(pool.Allocate(100, kTest, &first), kSuccess);
  ASSERT_EQ(pool.Allocate(100, kTest, &second), kSuccess);
  EXPECT_EQ(second, first + 512);
  EXPECT_EQ(pool.Get(PoolAttribute::kUsed), 1024u);
  EXPECT_EQ(pool.Get(PoolAttribute::kReserved), kChunkBytes);
  pool.Free(first);
  pool.Free(second);
}

TEST(MemoryPoolTest, KeepsWhatTheThresholdAllows) {
  MemoryPool pool(0);
  uint64_t address = 0;
  pool.Set(PoolAttribute::kReleaseThreshold, UINT64_MAX);
  ASSERT_EQ(pool.Allocate(kChunkBytes + 1, kTest, &address), kSuccess);
  EXPECT_EQ(pool.Free(address), kSuccess);
  EXPECT_EQ(pool.Get(PoolAttribute::kReserved), 2 * kChunkBytes);
  pool.Trim(0);
  EXPECT_EQ(pool.Get(PoolAttribute::kReserved), 0u);
  EXPECT_EQ(pool.Get(PoolAttribute::kReservedHigh), 2 * kChunkBytes);
  pool.Set(PoolAttribute::kReservedHigh, 0);
  EXPECT_EQ(pool.Get(PoolAttribute::kReservedHigh), 0u);
}

TEST(MemoryPoolTest, KnowsOnlyItsOwnAddresses) {
  MemoryPool pool(0);
  uint64_t address = 0, begin = 0, bytes = 0;
  ASSERT_EQ(pool.Allocate(1000, kTest, &address), kSuccess);
  EXPECT_TRUE(pool.Find(address + 999, &begin, &bytes));
  EXPECT_EQ(begin, address);
  EXPECT_FALSE(pool.Find(address + 1024, &begin, &bytes));
  EXPECT_EQ(pool.Free(address + 512), kInvalidValue);
  pool.Free(address);
}

}  // namespace
}  // namespace vramscope::simulated
