// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/region.h"

#include <gtest/gtest.h>

#include <cstring>

namespace vramscope::simulated {
namespace {

class RegionTest : public testing::Test {
 protected:
  RegionTest() { region_.Reserve(3); }
  void Write(uint64_t address, uint64_t bytes) {
    region_.MarkWritten(address, bytes);
    std::memset(reinterpret_cast<void*>(address), 0xee, bytes);
  }
  static uint8_t At(uint64_t address) { return *reinterpret_cast<uint8_t*>(address); }

  Region region_;
};

TEST_F(RegionTest, ContainsWholeRangesOnly) {
  ASSERT_NE(region_.bytes(), 0u);
  EXPECT_EQ(region_.begin() % kGranule, 0u);
  EXPECT_TRUE(region_.Contains(region_.begin(), region_.bytes()));
  EXPECT_FALSE(region_.Contains(region_.begin(), region_.bytes() + 1));
  EXPECT_FALSE(region_.Contains(region_.begin() - 1));
  EXPECT_FALSE(region_.Contains(region_.begin() + 1, UINT64_MAX));
}

// From within a page to within another one, and less than a page.
TEST_F(RegionTest, ClearsExactlyTheRange) {
  for (const uint64_t bytes : {uint64_t{100}, uint64_t{3 * 4096}, 2 * kGranule + 100}) {
    const uint64_t begin = region_.begin() + 1000;
    Write(begin - 1, bytes + 2);
    region_.Clear(begin, bytes);
    EXPECT_EQ(At(begin - 1), 0xee);
    EXPECT_EQ(At(begin), 0);
    EXPECT_EQ(At(begin + bytes / 2), 0);
    EXPECT_EQ(At(begin + bytes - 1), 0);
    EXPECT_EQ(At(begin + bytes), 0xee);
  }
}

TEST_F(RegionTest, ClearsAgainWhatWasWrittenAfterAWholeGranuleWasCleared) {
  Write(region_.begin(), 8);
  region_.Clear(region_.begin(), kGranule);
  Write(region_.begin() + 64, 8);
  region_.Clear(region_.begin(), kGranule);
  EXPECT_EQ(At(region_.begin() + 64), 0);
}

}  // namespace
}  // namespace vramscope::simulated
