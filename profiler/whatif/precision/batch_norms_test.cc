// SPDX-License-Identifier: Apache-2.0
// Batch norm of [8, 64, 32, 32], channels last, in bfloat16. The oracle is what PyTorch 2.15 asked for on the
// simulated device, in the decoder of a DPT of segmentation_models_pytorch.
#include "profiler/whatif/precision/batch_norms.h"

#include <gtest/gtest.h>

#include <string>

#include "profiler/whatif/testing/view.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

class BatchNormsTest : public testing::Test, protected WrittenStep {
 protected:
  static constexpr uint32_t kInput = 0, kResult = 1, kFirst = 2, kSecond = 3;

  //   aten::cudnn_batch_norm           (x) -> result, mean, 1 / deviation
  //   aten::cudnn_batch_norm_backward  (x) -> the gradients of x, weight and bias
  void Write(const std::string& name, const char* strides) {
    step_.shapes = {{}}, step_.blocks.clear();
    for (const Position begin : {1, 12, 14, 16}) AddBlock(begin, 90);
    Op op;
    op.name = Text(name);
    op.begin = 10, op.end = 30;
    op.input_count = 1, op.first_output = 1, op.output_count = 3;
    step_.ops = {op};
    step_.operands.clear();
    AddTensor(step_, 0, kInput, 0, "8,64,32,32", strides);
    AddTensor(step_, 0, kResult, 0, "8,64,32,32", strides);
    for (const uint32_t one : {kFirst, kSecond})
      AddTensor(step_, 0, one, static_cast<uint16_t>(one - 1), "64", "1");
  }
  [[nodiscard]] std::vector<StepBlock> Added(bool low = true) {
    changed_ = step_;
    NormalizeByOwnKernels(step_, {low, low, false, false}, changed_);
    return {changed_.blocks.begin() + 4, changed_.blocks.end()};
  }

  const char* const channels_last_ = "65536,1,2048,64";
  whatif::Step changed_;
};

TEST_F(BatchNormsTest, ThreadBlocksHandEachOtherWhatTheyReducedWhereThereAreEight) {
  EXPECT_EQ(StagingOf(64, 8 * 32 * 32).numbers * 4, 32'768u);
  EXPECT_EQ(StagingOf(64, 8 * 32 * 32).semaphores, 8u);
  EXPECT_EQ(StagingOf(64, 8 * 16 * 16).numbers * 4, 8'192u);
  EXPECT_EQ(StagingOf(64, 8 * 8 * 8).numbers, 0u);
}

TEST_F(BatchNormsTest, ForwardStagesBehindAllThatItHandsOut) {
  Write("aten::cudnn_batch_norm", channels_last_);
  const std::vector<StepBlock> added = Added();
  ASSERT_EQ(added.size(), 2u);
  EXPECT_EQ(added[0].requested, 32'768u);
  EXPECT_EQ(added[1].requested, 8u);
  EXPECT_GT(added[0].begin, 16);
  EXPECT_LT(added[0].begin, added[1].begin);
  EXPECT_LT(added[1].end, added[0].end);
  EXPECT_LT(added[0].end, 30);
}

TEST_F(BatchNormsTest, BackwardMakesTheGradientOfItsInputLast) {
  Write("aten::cudnn_batch_norm_backward", channels_last_);
  const std::vector<StepBlock> added = Added();
  ASSERT_EQ(added.size(), 4u);
  EXPECT_EQ(added[0].requested, 16'384u);
  EXPECT_GT(changed_.blocks[kResult].begin, added[0].end);
  for (const size_t sum : {2, 3}) {
    EXPECT_EQ(added[sum].requested, 256u);
    EXPECT_LT(added[sum].begin, 14) << "before the gradients of weight and bias";
    EXPECT_GT(added[sum].begin, 10);
    EXPECT_GT(added[sum].end, changed_.blocks[kResult].begin);
    EXPECT_LT(added[sum].end, 30);
  }
}

TEST_F(BatchNormsTest, WhatLiesChannelsFirstOrStaysFloatTakesNoMore) {
  Write("aten::cudnn_batch_norm_backward", "65536,1024,32,1");
  EXPECT_TRUE(Added().empty());
  Write("aten::cudnn_batch_norm_backward", channels_last_);
  EXPECT_TRUE(Added(false).empty());
}

}  // namespace
}  // namespace vramscope::whatif
