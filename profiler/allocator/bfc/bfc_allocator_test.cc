// SPDX-License-Identifier: Apache-2.0
// Oracle: sequences worked out by hand from the rules of tsl::BFCAllocator. tests/differential compares the
// model with the compiled allocator.
#include "profiler/allocator/bfc/bfc_allocator.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace vramscope::allocator::bfc {
namespace {

constexpr uint64_t kKibibyte = 1024;
constexpr uint64_t kMebibyte = uint64_t{1} << 20;
constexpr uint64_t kBase = uint64_t{1} << 32;

// Hands out growing addresses, `gap` bytes apart.
class Device : public SubAllocator {
 public:
  explicit Device(uint64_t capacity, uint64_t gap = 4096) : left_(capacity), gap_(gap) {}
  Region Allocate(uint64_t bytes) override {
    asked.push_back(bytes);
    if (bytes > left_) return {};
    left_ -= bytes;
    const uint64_t address = next_;
    next_ += bytes + gap_;
    return {address, bytes};
  }
  void Free(uint64_t, uint64_t bytes) override {
    left_ += bytes;
    ++freed;
  }
  [[nodiscard]] bool SupportsCoalescing() const override { return true; }

  std::vector<uint64_t> asked;
  int freed = 0;

 private:
  uint64_t left_;
  uint64_t gap_;
  uint64_t next_ = kBase;
};

Options WholeLimit(uint64_t limit) { return {.memory_limit = limit, .allow_growth = false}; }

TEST(BfcAllocatorTest, ARequestIsRoundedTo256AndTheRestOfTheChunkStaysFree) {
  Device device(kMebibyte);
  BfcAllocator bfc(WholeLimit(kMebibyte), device);
  EXPECT_EQ(bfc.Allocate(1000), kBase);
  EXPECT_EQ(bfc.Allocate(1), kBase + 1024);
  EXPECT_EQ(bfc.ChunkBytes(kBase), 1024U);
  EXPECT_EQ(bfc.ChunkBytes(kBase + 1024), 256U);
  EXPECT_EQ(bfc.statistics().bytes_in_use, 1280U);
  EXPECT_EQ(bfc.statistics().pool_bytes, kMebibyte);
  EXPECT_EQ(bfc.LargestFreeChunk(), kMebibyte - 1280);
}

TEST(BfcAllocatorTest, AChunkIsSplitFromTwiceTheRequestOn) {
  Device device(kMebibyte);
  BfcAllocator bfc(WholeLimit(kMebibyte), device);
  const uint64_t first = *bfc.Allocate(1792);
  const uint64_t wall = *bfc.Allocate(256);
  ASSERT_TRUE(bfc.Free(first));
  EXPECT_EQ(bfc.Allocate(1024), first);
  EXPECT_EQ(bfc.ChunkBytes(first), 1792U) << "1792 is less than twice 1024: handed out as a whole";
  ASSERT_TRUE(bfc.Free(first));
  EXPECT_EQ(bfc.Allocate(700), first) << "rounded to 768, twice of which is 1536";
  EXPECT_EQ(bfc.ChunkBytes(first), 768U);
  EXPECT_EQ(bfc.Allocate(1024), first + 768) << "the rest";
  EXPECT_EQ(bfc.ChunkBytes(wall), 256U);
}

TEST(BfcAllocatorTest, FreeNeighborsMergeOnBothSides) {
  Device device(kMebibyte);
  BfcAllocator bfc(WholeLimit(kMebibyte), device);
  const uint64_t a = *bfc.Allocate(512);
  const uint64_t b = *bfc.Allocate(512);
  const uint64_t c = *bfc.Allocate(512);
  ASSERT_TRUE(bfc.Free(a));
  ASSERT_TRUE(bfc.Free(c));  // merges with the rest of the region
  ASSERT_TRUE(bfc.Free(b));  // merges with both
  const auto regions = bfc.Regions();
  ASSERT_EQ(regions.size(), 1U);
  ASSERT_EQ(regions[0].chunks.size(), 1U);
  EXPECT_EQ(regions[0].chunks[0].bytes, kMebibyte);
  EXPECT_EQ(bfc.Fragmentation(), 0);
}

TEST(BfcAllocatorTest, TheSmallestChunkThatFitsIsTakenTheLowestOnATie) {
  Device device(kMebibyte);
  BfcAllocator bfc(WholeLimit(kMebibyte), device);
  const uint64_t large = *bfc.Allocate(1536);
  ASSERT_TRUE(bfc.Allocate(256).has_value());
  const uint64_t high = *bfc.Allocate(1280);
  ASSERT_TRUE(bfc.Allocate(256).has_value());
  const uint64_t higher = *bfc.Allocate(1280);
  ASSERT_TRUE(bfc.Allocate(256).has_value());
  for (const uint64_t address : {higher, large, high}) ASSERT_TRUE(bfc.Free(address));
  EXPECT_EQ(bfc.Allocate(1100), high);
  EXPECT_EQ(bfc.Allocate(1100), higher);
  EXPECT_EQ(bfc.Allocate(1100), large);
}

TEST(BfcAllocatorTest, GrowthDoublesTheRegionsFrom2MiBOn) {
  Device device(64 * kMebibyte);
  BfcAllocator bfc({.memory_limit = 64 * kMebibyte, .allow_growth = true}, device);
  ASSERT_TRUE(bfc.Allocate(kKibibyte).has_value());
  ASSERT_TRUE(bfc.Allocate(2 * kMebibyte).has_value());
  ASSERT_TRUE(bfc.Allocate(20 * kMebibyte).has_value());
  ASSERT_TRUE(bfc.Allocate(20 * kMebibyte).has_value());
  // The third region would be 8 MiB; it is doubled until 20 MiB fit, and not doubled again afterwards. The
  // fourth gets what the limit leaves.
  EXPECT_EQ(device.asked,
            (std::vector<uint64_t>{2 * kMebibyte, 4 * kMebibyte, 32 * kMebibyte, 26 * kMebibyte}));
  EXPECT_EQ(bfc.statistics().pool_bytes, 64 * kMebibyte);
}

TEST(BfcAllocatorTest, AdjacentRegionsBecomeOne) {
  Device device(64 * kMebibyte, 0);
  BfcAllocator bfc({.memory_limit = 64 * kMebibyte, .allow_growth = true}, device);
  const uint64_t first = *bfc.Allocate(2 * kMebibyte);
  ASSERT_TRUE(bfc.Free(first));
  EXPECT_EQ(bfc.Allocate(6 * kMebibyte), first) << "2 MiB and the next 8 MiB (4 is not enough) are one chunk";
  ASSERT_EQ(bfc.Regions().size(), 1U);
  EXPECT_EQ(bfc.Regions()[0].bytes, 10 * kMebibyte);
}

TEST(BfcAllocatorTest, ARegionThatTheDeviceRefusesIsAskedForAtNineTenths) {
  Device device(30 * kMebibyte);
  BfcAllocator bfc(WholeLimit(32 * kMebibyte), device);
  EXPECT_TRUE(bfc.Allocate(kMebibyte).has_value());
  ASSERT_EQ(device.asked.size(), 2U);
  EXPECT_EQ(device.asked[1], BfcAllocator::Rounded(32 * kMebibyte * 9 / 10));
}

TEST(BfcAllocatorTest, FreeRegionsAreGivenBackBeforeARequestFailsIfItIsAllowed) {
  for (const bool collects : {false, true}) {
    Device device(64 * kMebibyte);
    BfcAllocator bfc({.memory_limit = 16 * kMebibyte, .allow_growth = true, .garbage_collection = collects},
                     device);
    const uint64_t first = *bfc.Allocate(2 * kMebibyte);
    const uint64_t second = *bfc.Allocate(4 * kMebibyte);
    ASSERT_TRUE(bfc.Free(first) && bfc.Free(second));
    EXPECT_EQ(bfc.Allocate(12 * kMebibyte).has_value(), collects);
    EXPECT_EQ(device.freed, collects ? 2 : 0);
    EXPECT_EQ(bfc.statistics().pool_bytes, (collects ? 16 : 6) * kMebibyte);
    EXPECT_EQ(bfc.statistics().peak_pool_bytes, (collects ? 16 : 6) * kMebibyte);
  }
}

TEST(BfcAllocatorTest, NothingComesOfNothing) {
  Device device(kMebibyte);
  BfcAllocator bfc(WholeLimit(kMebibyte), device);
  EXPECT_FALSE(bfc.Allocate(0).has_value());
  EXPECT_FALSE(bfc.Allocate(kMebibyte + 1).has_value());
  EXPECT_FALSE(bfc.Free(kBase));
  const uint64_t block = *bfc.Allocate(512);
  EXPECT_FALSE(bfc.Free(block + 256)) << "inside a chunk";
  EXPECT_TRUE(bfc.Free(block));
  EXPECT_FALSE(bfc.Free(block)) << "it is free already";
}

// Property: whatever happens, chunks fill their regions, no two free ones are adjacent, and the totals add
// up.
TEST(BfcAllocatorTest, ChunksAlwaysFillTheirRegions) {
  constexpr uint64_t kSeed = 20261129;
  std::mt19937_64 random(kSeed);
  Device device(512 * kMebibyte);
  BfcAllocator bfc({.memory_limit = 256 * kMebibyte, .allow_growth = true, .garbage_collection = true},
                   device);
  std::vector<uint64_t> live;
  for (int i = 0; i < 3000; ++i) {
    if (live.empty() || random() % 100 < 55) {
      if (const auto address = bfc.Allocate(1 + random() % (uint64_t{1} << (8 + random() % 18))))
        live.push_back(*address);
    } else {
      std::swap(live[random() % live.size()], live.back());
      ASSERT_TRUE(bfc.Free(live.back()));
      live.pop_back();
    }
    if (i % 50 != 0) continue;
    uint64_t used = 0, pool = 0;
    for (const RegionState& region : bfc.Regions()) {
      uint64_t at = region.address;
      bool was_free = false;
      for (const ChunkState& chunk : region.chunks) {
        ASSERT_EQ(chunk.address, at) << "seed " << kSeed << ", operation " << i;
        const bool is_free = chunk.requested_bytes == 0;
        ASSERT_FALSE(was_free && is_free);
        was_free = is_free;
        used += is_free ? 0 : chunk.bytes;
        at += chunk.bytes;
      }
      ASSERT_EQ(at, region.address + region.bytes);
      pool += region.bytes;
    }
    ASSERT_EQ(used, bfc.statistics().bytes_in_use);
    ASSERT_EQ(pool, bfc.statistics().pool_bytes);
  }
}

}  // namespace
}  // namespace vramscope::allocator::bfc
