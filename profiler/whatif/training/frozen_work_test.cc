// SPDX-License-Identifier: Apache-2.0
// What is worked on for a frozen weight: which batches of matrices a product copies, and what a convolution
// does.
#include "profiler/whatif/training/frozen_work.h"

#include <gtest/gtest.h>

#include "profiler/whatif/testing/frozen_layer.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

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

// The weight is laid out again for the gradient of the input; the input is in any case.
TEST_F(FreezeBackwardTest, AConvolutionCopiesNoWeightForAGradientThatItDoesNotCompute) {
  const uint32_t copy_of_input = Add("", 160.1, 160.9), copy_of_weight = Add("", 160.2, 160.3);
  const uint32_t of_input = Add("", 160.4, 170), of_weight = Gradient("bias", 160.6, 166);
  const uint32_t kernel = AddOp("aten::convolution_backward", kNone, 0, {160, 161}, {out_, folded_, bias_},
                                {of_input, of_weight});
  step_.operands.back().argument = 1;
  for (const uint32_t block : {of_input, of_weight}) step_.blocks[block].op = kernel;
  const uint32_t input = AddOp("aten::contiguous", kernel, 0, {160.05, 160.15}, {folded_}, {copy_of_input});
  const uint32_t weight = AddOp("aten::contiguous", kernel, 0, {160.15, 160.25}, {bias_}, {copy_of_weight});
  step_.blocks[copy_of_input].op = input;
  step_.blocks[copy_of_weight].op = weight;
  (void)AddOp("AccumulateGrad", kNone, 1, {166, 167}, {of_weight}, {});
  const uint32_t next = AddOp("aten::neg", 2, 0, {162, 163}, {of_input}, {of_query_});
  for (const uint32_t op : {input, weight, kernel, next}) step_.op_ends.insert(step_.op_ends.end() - 2, op);
  const Step query_frozen = WithFrozen(query_);
  EXPECT_EQ(query_frozen.blocks[copy_of_weight].requested, 0u);
  EXPECT_EQ(query_frozen.blocks[copy_of_input].requested, 512u);
  const Step bias_frozen = WithFrozen(bias_);
  EXPECT_EQ(bias_frozen.blocks[copy_of_weight].requested, 512u);
  EXPECT_EQ(bias_frozen.blocks[copy_of_input].requested, 512u);
}

}  // namespace
}  // namespace vramscope::whatif
