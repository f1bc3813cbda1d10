// SPDX-License-Identifier: Apache-2.0
// Reductions that the batch goes into, written down by hand, with partial sums as recorded on an A100.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <tuple>

#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

// x.norm(p=2, dim=(1, 2)) of 16 images, as recorded on an A100.
TEST(BatchReductionsTest, PartialSumsOfANormAreThoseOfASum) {
  whatif::Step step;
  step.shapes.push_back({});
  step.own_texts =
      std::make_shared<std::deque<std::string>>(std::deque<std::string>{"aten::linalg_vector_norm", "[1,2]"});
  step.blocks.resize(4);
  step.blocks[0].category = classify::Category::kInput;
  step.blocks[0].requested = uint64_t{16} * 32 * 32 * 256 * 4;
  step.blocks[1].begin = 3, step.blocks[2].begin = 4, step.blocks[3].begin = 4.5;
  step.blocks[1].op = step.blocks[2].op = step.blocks[3].op = 0;
  step.blocks[2].requested = 33554432, step.blocks[3].requested = 512;
  Op& op = step.ops.emplace_back();
  op.name = Step::kFirstOwnText, op.dims = Step::kFirstOwnText + 1;
  op.begin = 2, op.end = 6;
  op.input_count = op.first_output = op.output_count = 1;
  step.op_ends = {0};
  for (const auto& [block, shape, strides] :
       {std::tuple(0u, "16,32,32,256", "262144,8192,256,1"), std::tuple(1u, "16,1,1,256", "256,256,256,1")}) {
    AddTensor(step, 0, block, 0, shape, strides);
  }
  const BatchAxis axis = FollowBatch(step).value();
  ASSERT_EQ(axis.reductions.size(), 1u);
  EXPECT_EQ(axis.reductions[0].block, 2u);
  EXPECT_EQ(axis.reductions[0].counters, 3u);
  EXPECT_EQ(ScratchOf(WithBatch(axis.reductions[0].reduction, 4), axis.device).sums, 8388608u);
  EXPECT_EQ(PlaceOfDims("aten::linalg_vector_norm"), 2u);
  EXPECT_EQ(PlaceOfDims("aten::sum"), 1u);
}

// x [8, 8, 1024], summed up over 64 rows: of 4,096 rows the kernel needs 32 MiB for partial sums.
std::vector<Block> PartialSumsOf(uint64_t bytes, bool taken_away = false) {
  whatif::Step step;
  step.shapes.push_back({});
  step.own_texts =
      std::make_shared<std::deque<std::string>>(std::deque<std::string>{"aten::view", "aten::sum", "[0]"});
  step.blocks.resize(2);
  step.blocks[0].category = classify::Category::kInput;
  step.blocks[0].requested = bytes;
  step.blocks[1].begin = 5;
  const auto add = [&](uint32_t op, uint32_t block, const char* shape, const char* strides) {
    AddTensor(step, op, block, 0, shape, strides);
  };
  add(0, 0, "8,8,1024", "8192,1024,1"), add(0, 0, "64,1024", "1024,1");
  add(1, 0, "64,1024", "1024,1"), add(1, 1, "1024", "1");
  for (uint32_t i = 0; i < 2; ++i) {
    Op& op = step.ops.emplace_back();
    op.name = Step::kFirstOwnText + i, op.dims = Step::kFirstOwnText + 2;
    op.begin = 1 + 3 * i, op.end = op.begin + 2;
    op.first_input = 2 * i, op.first_output = 2 * i + 1;
    op.input_count = op.output_count = 1;
    step.op_ends.push_back(i);
  }
  if (taken_away) step.blocks.emplace_back().begin = 4.5, step.blocks.back().op = 1;
  Scene scene;
  ScaleBatch(step, FollowBatch(step).value(), 512, scene);
  return scene.blocks;
}

TEST(BatchReductionsTest, WhatALeverTookAwayIsNotSummedUp) {
  const std::vector<Block> sums = PartialSumsOf(8 * 8 * 1024 * 4);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].bytes, 33'554'432u);
  EXPECT_EQ(sums[1].bytes, 32u) << "counters of 8 thread blocks side by side";
  EXPECT_LT(sums[0].begin, sums[1].begin);
  EXPECT_LT(sums[1].end, sums[0].end);
  EXPECT_TRUE(PartialSumsOf(0).empty());
}

// Fewer tokens needed none.
TEST(BatchReductionsTest, PartialSumsThatALeverTookAwayComeBack) {
  const std::vector<Block> sums = PartialSumsOf(8 * 8 * 1024 * 4, true);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].bytes, 33'554'432u);
}

TEST(BatchReductionsTest, WhereOneThreadBlockSumsUpItCountsNoOthers) {
  BatchAxis axis;
  axis.batch = 4096, axis.stride = {1024, 0, 0}, axis.second = {0, 0, 0};
  axis.reductions = {{0, 1, {{{4096, 1024, true, 1}, {1024, 1, false}}, 4}, 2}};
  Step step;
  step.blocks.resize(3);
  for (const auto& [samples, counters] : {std::pair(2048, 512u), std::pair(8, 0u)}) {
    Scene scene;
    scene.blocks = {{1, 2, 33'554'432, 1}, {1, 2, 512, 2}};
    ScaleBatch(step, axis, samples, scene);
    EXPECT_EQ(scene.blocks[1].bytes, counters) << samples;
  }
}

// Of x [16, 1024, 8, 8], reduced over channels by `name`, which returns `results` tensors; as recorded on an
// A100.
BatchAxis AxisOfFound(const char* name, uint32_t results, uint8_t dtype = kFloat, uint64_t sums = 33554432) {
  Step step;
  step.shapes.push_back({});
  step.own_texts = std::make_shared<std::deque<std::string>>(std::deque<std::string>{name, "1"});
  step.blocks.resize(5);
  step.blocks[0].category = classify::Category::kInput;
  step.blocks[0].requested = uint64_t{16} * 1024 * 64 * 4;
  for (uint32_t i = 1; i < 5; ++i) step.blocks[i].begin = 2 + i, step.blocks[i].op = 0;
  step.blocks[1].requested = sums, step.blocks[2].requested = 512;
  Op& op = step.ops.emplace_back();
  op.name = Step::kFirstOwnText, op.dims = Step::kFirstOwnText + 1;
  op.begin = 2, op.end = 9;
  op.input_count = op.first_output = 1, op.output_count = results;
  step.op_ends = {0};
  AddTensor(step, 0, 0, 0, "16,1024,8,8", "65536,64,8,1");
  step.operands[0].dtype = dtype;
  for (uint32_t i = 0; i < results; ++i)
    AddTensor(step, 0, 3 + i, static_cast<uint16_t>(i), "16,8,8", "64,8,1");
  return FollowBatch(step).value();
}

TEST(BatchReductionsTest, WhereTheLargestIsIsFoundWithPairsOfAValueAndItsPlace) {
  for (const auto& [name, results] :
       {std::pair("aten::argmax", 1u), std::pair("aten::argmin", 1u), std::pair("aten::max", 2u)}) {
    const BatchAxis axis = AxisOfFound(name, results);
    ASSERT_EQ(axis.reductions.size(), 1u) << name;
    EXPECT_EQ(axis.reductions[0].block, 1u);
    EXPECT_TRUE(axis.notes.empty());
    EXPECT_EQ(ScratchOf(WithBatch(axis.reductions[0].reduction, 4), axis.device).sums, 8388608u);
  }
  EXPECT_TRUE(AxisOfFound("aten::max", 1).reductions.empty()) << "the larger ones of two";
}

TEST(BatchReductionsTest, IntegersAreSummedUpInEightBytes) {
  const BatchAxis axis = AxisOfFound("aten::sum", 1, kLong, 16777216);
  ASSERT_EQ(axis.reductions.size(), 1u);
  EXPECT_EQ(axis.reductions[0].block, 1u);
  EXPECT_TRUE(axis.notes.empty());
}

// Measured of x [16, 1024, 8, 8] and of [1048576] with PyTorch 2.15 on a simulated A100.
TEST(BatchReductionsTest, AMomentHasTwoFloatsAndTwoCounts) {
  for (const auto& [name, results] :
       {std::pair("aten::var", 1u), std::pair("aten::std", 1u), std::pair("aten::var_mean", 2u)}) {
    const BatchAxis axis = AxisOfFound(name, results);
    ASSERT_EQ(axis.reductions.size(), 1u) << name;
    EXPECT_EQ(axis.reductions[0].block, 1u) << name;
    EXPECT_TRUE(axis.notes.empty());
    Reduction all = axis.reductions[0].reduction;
    all.dimensions = {{1 << 20, 1, true}};
    EXPECT_EQ(ScratchOf(all, axis.device).sums, 2048u) << "two elements at a time";
  }
}

TEST(BatchReductionsTest, TheLargestAreInTheTypeOfWhatTheyAreOf) {
  constexpr uint8_t kBfloat16 = 15;
  for (const auto& [dtype, sums] : {std::pair(kFloat, 8388608u), std::pair(kBfloat16, 4194304u)}) {
    const BatchAxis axis = AxisOfFound("aten::amax", 1, dtype, sums);
    ASSERT_EQ(axis.reductions.size(), 1u);
    EXPECT_EQ(axis.reductions[0].block, 1u);
    EXPECT_TRUE(axis.notes.empty());
  }
}

}  // namespace
}  // namespace vramscope::whatif
