// SPDX-License-Identifier: Apache-2.0
// Which batches of matrices a product with a frozen weight copies.
#include "profiler/whatif/frozen_work.h"

#include <gtest/gtest.h>

namespace vramscope::whatif {
namespace {

bool InARow(std::string_view sizes, std::string_view strides) {
  Step step;
  step.shapes.push_back({});
  step.shapes.push_back(ParseShape(sizes, step.dims));
  step.shapes.push_back(ParseShape(strides, step.dims));
  Operand batch;
  batch.shape = 1, batch.strides = 2;
  return AreMatricesInARow(step, batch);
}

TEST(FrozenWorkTest, MatricesWithGapsMayLieInARow) {
  EXPECT_TRUE(InARow("8,4,2", "8,1,4"));
  EXPECT_TRUE(InARow("2,8,4,2", "64,8,1,4"));
  EXPECT_FALSE(InARow("2,8,4,2", "64,1,16,8")) << "those of the second dimension lie in each other";
  EXPECT_TRUE(InARow("1,8,4,2", "64,1,16,8"));
}

TEST(FrozenWorkTest, SoTheyAreTakenToBeWhereNothingIsKnown) {
  EXPECT_TRUE(AreMatricesInARow(
      [] {
        Step step;
        step.shapes.push_back({});
        return step;
      }(),
      Operand{}));
}

}  // namespace
}  // namespace vramscope::whatif
