// SPDX-License-Identifier: Apache-2.0
// Oracle: the strides of tensors in PyTorch 2.15.
#include "profiler/whatif/step/strides.h"

#include <gtest/gtest.h>

namespace vramscope::whatif {
namespace {

// Attention's heads: 2 samples, 4 heads, 64 rows of 32.
const Extents kHeads = {2, 4, 64, 32}, kOfProducts = {8192, 2048, 32, 1}, kOfRows = {8192, 32, 128, 1};

TEST(StridesTest, AResultHasNoGapsAndTheOrderOfWhatItWasComputedFrom) {
  EXPECT_EQ(StridesWithoutGaps(kHeads), kOfProducts);
  // Queries in one block with keys and values.
  EXPECT_EQ(StridesOfResult(kHeads, Extents{24576, 32, 384, 1}), kOfRows);
}

// The strides of torch.empty_like().
TEST(StridesTest, WhatIsExpandedStaysInItsPlaceInAResult) {
  EXPECT_EQ(StridesOfResult(Extents{8, 3, 64}, Extents{0, 64, 1}), (Extents{192, 64, 1}));
  EXPECT_EQ(StridesOfResult(Extents{8, 4, 3, 96}, Extents{0, 0, 96, 1}), (Extents{1152, 288, 96, 1}));
}

TEST(StridesTest, DimensionsOfOneHaveAnyDistance) {
  EXPECT_TRUE(LiesWithoutGaps(Extents{4, 8, 16}, Extents{128, 16, 1}));
  EXPECT_TRUE(LiesWithoutGaps(Extents{4, 1, 16}, Extents{16, 999, 1}));
  EXPECT_FALSE(LiesWithoutGaps(Extents{4, 8, 16}, Extents{256, 32, 1})) << "every other row";
  EXPECT_FALSE(LiesWithoutGaps(Extents{4, 8, 16}, Extents{128, 1, 8})) << "another order";
  EXPECT_FALSE(LiesWithoutGaps(Extents{4, 8, 16}, Extents{})) << "not recorded";
}

}  // namespace
}  // namespace vramscope::whatif
