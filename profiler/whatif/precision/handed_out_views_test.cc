// SPDX-License-Identifier: Apache-2.0
// A node that hands out views of the gradient that it is given, under autocast: an U-Net's levels, written
// down by hand. What PyTorch 2.15 was seen to do with segmentation_models_pytorch's decoder:
//
//   forward    linear ─ skip (16 bits) ─┬─ upsample (float32) ─ cat (float32) ─ linear
//                                       └───────────────────────┘
//   backward   mm ─ its node converts to float32 ─ cat: narrow ─ checked: 16 bits, a tensor of its own
//              upsample ─ add_ to that ─ mm
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class HandedOutViewsTest : public testing::Test, protected WrittenOperators {
 protected:
  static constexpr uint64_t kView = 7;  // of the tensors of a block

  void SetUp() override {
    const uint32_t batch = AddBlock(kBefore, kForever), weight = AddBlock(kBefore, kForever);
    const uint32_t skip = AddBlock(11, 150), wide = AddBlock(15, 26), joined = AddBlock(19, 150);
    const uint32_t out = AddBlock(23, 120), seed = AddBlock(105, 120);
    const uint32_t first = AddOp("aten::linear", kNone, {10, 12}, {batch, weight}, skip);
    const uint32_t up = AddOp("aten::upsample_nearest2d", kNone, {14, 16}, {skip}, wide);
    const uint32_t cat = AddOp("aten::cat", kNone, {18, 20}, {wide, skip}, joined);
    const uint32_t second = AddOp("aten::linear", kNone, {22, 24}, {joined, weight}, out);
    of_joined_ = AddBlock(112, 134), of_skip_ = AddBlock(132, 134), sum_ = AddBlock(133.5, 145);
    const uint32_t of_second = AddNode("AddmmBackward0", second, 110);
    const uint32_t of_cat = AddNode("CatBackward0", cat, 120), of_up = AddNode("UpsampleBackward0", up, 130);
    const uint32_t of_first = AddNode("AddmmBackward0", first, 140);
    AddOp("AddmmBackward0", of_second, {111, 113}, {seed}, kNone);
    AddInner("aten::mm", of_second, {111.5, 112.5}, {seed, seed}, of_joined_);
    AddOp("CatBackward0", of_cat, {121, 123}, {of_joined_}, kNone);
    AddInner("aten::narrow", of_cat, {121.5, 122.5}, {of_joined_}, of_joined_);
    IsView(step_.operands.back());
    AddOp("UpsampleBackward0", of_up, {131, 133}, {of_joined_}, of_skip_);
    const uint32_t add = AddOp("aten::add", of_up, {133.2, 133.8}, {of_joined_, of_skip_}, sum_);
    IsView(step_.operands[step_.ops[add].first_input]);
    AddOp("AddmmBackward0", of_first, {141, 143}, {sum_}, kNone);
    for (uint32_t i = 0; i < step_.ops.size(); ++i) step_.op_ends.push_back(i);
    OrderOpEnds(step_);
  }

  // In the operator before it.
  void AddInner(const char* name, uint32_t node, Window time, const std::vector<uint32_t>& from,
                uint32_t to) {
    const auto outer = static_cast<uint32_t>(step_.ops.size() - 1);
    step_.ops[AddOp(name, node, time, from, to)].parent = outer;
  }
  static void IsView(Operand& operand) {
    operand.tensor = kView;
    operand.flags |= trace::kTensorIsView;
  }

  uint32_t of_joined_ = 0, of_skip_ = 0, sum_ = 0;
};

TEST_F(HandedOutViewsTest, WhatIsCheckedBehindTheNodeIsATensorOfItsOwnThatIsAddedToInPlace) {
  const Step changed = UnderAutocast(step_, kBfloat16Type);
  EXPECT_EQ(changed.blocks[sum_].requested, 0u);
  const auto copy = std::ranges::find_if(changed.blocks, [&](const StepBlock& block) {
    return block.copy_of == of_joined_ && block.requested == 256;
  });
  ASSERT_TRUE(copy != changed.blocks.end());
  EXPECT_GT(copy->begin, 122) << "of the view, which is there by then";
  EXPECT_GT(copy->end, 140) << "it is the sum";
}

}  // namespace
}  // namespace vramscope::whatif
