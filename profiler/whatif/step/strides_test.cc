// SPDX-License-Identifier: Apache-2.0
// Against what torch.Tensor.view of PyTorch 2.15 says: its strides, or that it refuses.
#include "profiler/whatif/step/strides.h"

#include <gtest/gtest.h>

namespace vramscope::whatif {
namespace {

// Attention's heads: 2 samples, 4 heads, 64 rows of 32.
const Extents kHeads = {2, 4, 64, 32}, kOfProducts = {8192, 2048, 32, 1}, kOfRows = {8192, 32, 128, 1};

TEST(StridesTest, HeadsInFrontOfRowsAreCountedWithSamplesOnlyWhereTheyLieSo) {
  EXPECT_EQ(StridesOfView(kHeads, kOfProducts, Extents{8, 64, 32}), (Extents{2048, 32, 1}));
  EXPECT_EQ(StridesOfView(kHeads, kOfRows, Extents{8, 64, 32}), std::nullopt);
}

TEST(StridesTest, TransposedKeysAreSplitIntoHeadsButNotIntoRowsOfAllSamples) {
  // [batch, rows, heads, width], of a product that handed out [batch, heads, width, rows].
  const Extents sizes = {2, 64, 4, 32}, strides = {8192, 1, 2048, 64};
  EXPECT_EQ(StridesOfView(sizes, strides, Extents{2, 64, 128}), (Extents{8192, 1, 64}));
  EXPECT_EQ(StridesOfView(Extents{2, 64, 128}, Extents{8192, 1, 64}, Extents{128, 128}), std::nullopt);
  EXPECT_EQ(StridesOfView(Extents{1, 64, 128}, Extents{8192, 1, 64}, Extents{64, 128}), (Extents{1, 64}));
}

TEST(StridesTest, DimensionsOfOneAreAnywhere) {
  EXPECT_EQ(StridesOfView(Extents{6}, Extents{2}, Extents{1, 2, 1, 3, 1}), (Extents{12, 6, 6, 2, 2}));
  EXPECT_EQ(StridesOfView(Extents{2, 1, 3}, Extents{3, 100, 1}, Extents{6}), (Extents{1}));
  EXPECT_EQ(StridesOfView(Extents{}, Extents{}, Extents{1, 1}), (Extents{1, 1}));
}

TEST(StridesTest, AResultHasNoGapsAndTheOrderOfWhatItWasComputedFrom) {
  EXPECT_EQ(StridesWithoutGaps(kHeads), kOfProducts);
  // Queries out of one block with keys and values.
  EXPECT_EQ(StridesOfResult(kHeads, Extents{24576, 32, 384, 1}), kOfRows);
}

// As torch.empty_like() lays it out.
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

TEST(StridesTest, WhatIsExpandedHasNoDistanceThere) {
  const Extents sizes = {4, 1, 1, 32};
  EXPECT_TRUE(IsExpanded(sizes, Extents{1, 0, 0, 0}, 32));
  EXPECT_FALSE(IsExpanded(sizes, Extents{1, 0, 0, 0}, 4));
  EXPECT_FALSE(IsExpanded(sizes, Extents{32, 32, 32, 1}, 32));
  EXPECT_FALSE(IsExpanded(sizes, {}, 32)) << "not recorded";
}

}  // namespace
}  // namespace vramscope::whatif
