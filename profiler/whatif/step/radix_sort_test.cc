// SPDX-License-Identifier: Apache-2.0
// Oracle: what PyTorch 2.15 asked CUB for to sort 73,728 floats with their indices, and the figures that
// CUB's policy for 8.0 and ptxas state for keys of two bytes.
#include "profiler/whatif/step/radix_sort.h"

#include <gtest/gtest.h>

namespace vramscope::whatif {
namespace {

TEST(RadixSortTest, OneSweepCountsTheTilesThatAreFilled) { EXPECT_EQ(OneSweepSortBytes(73'728), 918'015u); }

TEST(RadixSortTest, ManySweepsCountDigitsForEveryBlockThatCouldBeThere) {
  constexpr uint64_t kCounts = (108 * 5 * 128 + 512 * 11) * 8;
  EXPECT_EQ(ManySweepSortBytes(73'728, 108), kCounts + 73'728 * (2 + 8) + 255);
  EXPECT_EQ(ManySweepSortBytes(2 * 73'728, 108), kCounts + 2 * 73'728 * (2 + 8) + 255) << "the counts stay";
}

}  // namespace
}  // namespace vramscope::whatif
