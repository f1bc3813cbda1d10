// SPDX-License-Identifier: Apache-2.0
// scores += bias; softmax(scores), under autocast, in a step put together by hand: scores are 16 bits, the
// bias and what softmax works on are float32.
//
//   softmax's node ─ one converts the gradient ─ the addition's node hands it on ─┬─ the product's node
//                                                       the engine converts it ─ + ─ the bias's node
#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class HandedOnTest : public testing::Test, protected WrittenOperators {
 protected:
  static constexpr Position kHandedOn = 128, kAdded = 130;

  HandedOnTest() {
    const uint32_t weight = AddBlock(kBefore, kForever), table = AddBlock(kBefore, kForever);
    step_.trained = {weight, table};
    const uint32_t bias = AddBlock(6, 190), scores = AddBlock(11, 190), weights = AddBlock(31, 190);
    gradient_ = AddBlock(113, 150), sum_ = AddBlock(105, 180);
    AddOp("aten::embedding", kNone, {5, 7}, {table}, bias);
    AddOp("aten::linear", kNone, {10, 12}, {weight}, scores);
    AddOp("aten::add_", kNone, {20, 22}, {scores, bias}, scores);
    AddOp("aten::softmax", kNone, {30, 32}, {scores}, weights);
    const uint32_t of_bias = AddNode("EmbeddingBackward0", 0, 170),
                   of_scores = AddNode("MmBackward0", 1, 140), of_addition = AddNode("AddBackward0", 2, 125),
                   of_softmax = AddNode("SoftmaxBackward0", 3, 110);
    AddOp("aten::ones", of_bias, {104, 106}, {}, sum_);
    AddOp("SoftmaxBackward0", of_softmax, {111, 119}, {weights}, gradient_);
    AddOp("AddBackward0", of_addition, {126, kHandedOn}, {gradient_}, kNone);
    AddOp("aten::add_", of_addition, {kAdded, 132}, {sum_, gradient_}, sum_);
    AddOp("MmBackward0", of_scores, {141, 143}, {gradient_}, kNone);
    AddOp("EmbeddingBackward0", of_bias, {171, 173}, {sum_}, kNone);
    for (uint32_t i = 0; i < step_.ops.size(); ++i) step_.op_ends.push_back(i);
  }

  uint32_t gradient_ = 0, sum_ = 0;
};

TEST_F(HandedOnTest, WhatANodeConvertedIsConvertedAgainBehindTheAddition) {
  const Step changed = UnderAutocast(step_, kBfloat16Type);
  std::vector<StepBlock> low, wide;
  for (const StepBlock& block : changed.blocks)
    if (block.copy_of == gradient_) (block.requested == 256 ? low : wide).push_back(block);
  ASSERT_EQ(low.size(), 1u);
  EXPECT_LT(low[0].begin, 125) << "for the addition's node";
  ASSERT_EQ(wide.size(), 1u);
  EXPECT_GT(wide[0].begin, kHandedOn);
  EXPECT_LT(wide[0].begin, kAdded);
}

// Behind a node's operator it sums up what was broadcast.
TEST_F(HandedOnTest, WhatANodeIsGivenStaysWhileTheEngineBringsWhatComesOutIntoShape) {
  const uint32_t product = step_.ops[8].node;
  const uint32_t late = AddOp("aten::add_", 0, {160, 162}, {sum_, gradient_}, sum_);
  step_.op_ends.push_back(late);
  const auto end = [&] {
    const Step changed = UnderAutocast(step_, kBfloat16Type);
    for (const StepBlock& block : changed.blocks)
      if (block.copy_of == gradient_ && block.requested == 256) return block.end;
    return kBefore;
  };
  EXPECT_GT(end(), 143.5) << "the operator ends at 143, the node at 144";
  EXPECT_LT(end(), 144);
  step_.saved.push_back({step_.trained[0], product, 10, 143.4});
  step_.nodes[product].end = 149;
  EXPECT_LT(end(), 143.4) << "then the node lets go of what it kept";
}

// The sum may wait for other gradients long behind the conversion.
TEST_F(HandedOnTest, WhatIsConvertedForASumGoesWithItsConversion) {
  step_.ops[8].input_count = 0, ++step_.ops[8].first_input;  // the product's node is given something else
  const Step changed = UnderAutocast(step_, kBfloat16Type);
  for (const StepBlock& block : changed.blocks)
    if (block.copy_of == gradient_ && block.requested == 256) {
      EXPECT_LT(block.end, kHandedOn + 0.2) << "the node would hold it until 128.6";
    }
}

//   residual + a + b, or a + b + residual: a and b in 16 bits, the residual, and all sums with it, float32
class AddedTwiceTest : public testing::Test, protected WrittenOperators {
 protected:
  static constexpr Position kOuter = 120, kInner = 130, kOfB = 140;

  // Copies of the gradient in 16 bits.
  std::vector<StepBlock> Copies(bool residual_first, bool b_is_viewed = false) {
    const uint32_t weight = AddBlock(kBefore, kForever), table = AddBlock(kBefore, kForever);
    step_.trained = {weight, table};
    const uint32_t residual = AddBlock(6, 190), a = AddBlock(11, 190), b = AddBlock(16, 190),
                   inner = AddBlock(21, 190), sum = AddBlock(31, 190), out = AddBlock(41, 190);
    gradient_ = AddBlock(113, 190);
    std::vector<uint32_t> nodes;
    const auto add = [&](const char* name, const char* node, Position at, const std::vector<uint32_t>& from,
                         uint32_t to, Position node_begin) {
      nodes.push_back(AddNode(node, AddOp(name, kNone, {at, at + 2}, from, to), node_begin));
    };
    add("aten::embedding", "EmbeddingBackward0", 5, {table}, residual, 170);
    add("aten::linear", "MmBackward0", 10, {weight}, a, 150);
    add("aten::linear", "MmBackward0", 15, {weight}, b, kOfB);
    if (b_is_viewed) add("aten::view", "ViewBackward0", 17.25, {b}, b, kOfB - 5);
    add("aten::add", "AddBackward0", 20, {residual_first ? residual : b, a}, inner, kInner);
    add("aten::add", "AddBackward0", 30, {inner, residual_first ? b : residual}, sum, kOuter);
    add("aten::softmax", "SoftmaxBackward0", 40, {sum}, out, 110);
    std::reverse(nodes.begin(), nodes.end());
    AddOp("SoftmaxBackward0", nodes[0], {111, 113.5}, {out}, gradient_);
    for (size_t i = 1; i < nodes.size(); ++i) {
      const Position begin = step_.nodes[nodes[i]].begin + 1;
      const uint32_t op = AddOp("", nodes[i], {begin, begin + 2}, {gradient_}, kNone);
      step_.ops[op].name = step_.nodes[nodes[i]].name;
    }
    for (uint32_t i = 0; i < step_.ops.size(); ++i) step_.op_ends.push_back(i);
    std::vector<StepBlock> copies;
    const Step changed = UnderAutocast(step_, kBfloat16Type);
    EXPECT_EQ(changed.blocks[gradient_].requested, 512u);
    for (const StepBlock& block : changed.blocks)
      if (block.copy_of == gradient_ && block.requested == 256) copies.push_back(block);
    return copies;
  }

  uint32_t gradient_ = 0;
};

// What a node hands on is checked against each of what it added up.
TEST_F(AddedTwiceTest, EachAdditionsNodeConvertsForItself) {
  const std::vector<StepBlock> copies = Copies(true);
  ASSERT_EQ(copies.size(), 2u);
  for (const StepBlock& copy : copies) {
    EXPECT_GT(copy.begin, kOuter);
    EXPECT_LT(copy.begin, kOfB) << "at once, not when the node runs that it is for";
  }
  EXPECT_GT(copies[1].begin, kInner) << "for a";
}

TEST_F(AddedTwiceTest, AllBehindOneAdditionsNodeTakeWhatThatConverted) {
  EXPECT_EQ(Copies(true, true).size(), 2u) << "of b the node of its view, and its own";
}

TEST_F(AddedTwiceTest, WhatOneConvertedTheOtherHandsOn) { EXPECT_EQ(Copies(false).size(), 1u); }

}  // namespace
}  // namespace vramscope::whatif
