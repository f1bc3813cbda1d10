// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/address_space.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace vramscope::simulated {
namespace {

constexpr uint64_t kBegin = 0x1000;
constexpr uint64_t kGranule16 = 16;

TEST(AddressSpaceTest, GivesTheLowestFreeAddress) {
  AddressSpace space(kBegin, 160, kGranule16);
  const uint64_t first = space.Take(16);
  const uint64_t second = space.Take(30);
  EXPECT_EQ(first, kBegin);
  EXPECT_EQ(second, kBegin + 16);
  space.Give(first, 16);
  EXPECT_EQ(space.Take(8), kBegin) << "a hole is used before the end";
  EXPECT_EQ(space.Take(48), kBegin + 48) << "and skipped when it is too small";
}

TEST(AddressSpaceTest, KeepsTheAlignmentThatWasAskedFor) {
  AddressSpace space(kBegin, 4096, kGranule16);
  space.Take(16);
  EXPECT_EQ(space.Take(16, 256) % 256, 0u);
  EXPECT_EQ(space.Take(16), kBegin + 16) << "what was skipped stays free";
}

TEST(AddressSpaceTest, GivesAnAskedForRangeOnlyWhenAllOfItIsFree) {
  AddressSpace space(kBegin, 160, kGranule16);
  EXPECT_TRUE(space.TakeAt(kBegin + 32, 32));
  EXPECT_FALSE(space.TakeAt(kBegin + 48, 16));
  EXPECT_FALSE(space.TakeAt(kBegin + 16, 32));
  EXPECT_FALSE(space.TakeAt(kBegin + 144, 32)) << "beyond the end";
  EXPECT_TRUE(space.TakeAt(kBegin, 32));
}

TEST(AddressSpaceTest, NeverOverlapsAndLosesNothingOverManyRandomCalls) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  constexpr uint64_t kBytes = 1 << 16;
  AddressSpace space(kBegin, kBytes, kGranule16);
  std::map<uint64_t, uint64_t> taken;
  for (int i = 0; i < 20000; ++i) {
    if (random() % 2 == 0 && !taken.empty()) {
      const auto victim = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      space.Give(victim->first, victim->second);
      taken.erase(victim);
      continue;
    }
    const uint64_t bytes = 1 + random() % 700;
    const uint64_t address = space.Take(bytes);
    if (address == 0) continue;
    const auto after = taken.lower_bound(address);
    if (after != taken.end()) {
      ASSERT_LE(address + bytes, after->first);
    }
    if (after != taken.begin()) {
      const auto before = std::prev(after);
      ASSERT_LE(before->first + space.Rounded(before->second), address);
    }
    taken[address] = bytes;
  }
  for (const auto& [address, bytes] : taken) space.Give(address, bytes);
  EXPECT_EQ(space.free_bytes(), kBytes);
  EXPECT_EQ(space.Take(kBytes), kBegin) << "all free ranges have joined again";
}

}  // namespace
}  // namespace vramscope::simulated
