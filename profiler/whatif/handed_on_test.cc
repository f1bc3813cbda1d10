// SPDX-License-Identifier: Apache-2.0
// scores += bias; softmax(scores), under autocast, in a step put together by hand: scores are 16 bits, the
// bias and what softmax works on are float32.
//
//   softmax's node ─ one converts the gradient ─ the addition's node hands it on ─┬─ the product's node
//                                                       the engine converts it ─ + ─ the bias's node
#include <gtest/gtest.h>

#include "profiler/whatif/precision.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class HandedOnTest : public testing::Test, protected WrittenStep {
 protected:
  static constexpr Position kHandedOn = 128, kAdded = 130;

  HandedOnTest() {
    step_.torch_version = "2.15.0";
    step_.shapes = {{}, {0, 1, true}};
    step_.dims = {128};
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

  uint32_t AddNode(const std::string& name, uint32_t op, Position begin) {
    const uint32_t node = Node(begin);
    step_.nodes[node] = {Name(name), op, step_.ops[op].begin + 0.5, begin, begin + 4};
    return node;
  }
  uint32_t AddOp(const std::string& name, uint32_t node, Window time, const std::vector<uint32_t>& from,
                 uint32_t to) {
    Op op;
    op.name = Name(name), op.node = node;
    op.dtype = name == "aten::softmax" ? 0 : Name("none is asked for");
    op.begin = time.begin, op.end = time.end;
    op.first_input = static_cast<uint32_t>(step_.operands.size());
    op.input_count = static_cast<uint32_t>(from.size());
    op.first_output = op.first_input + op.input_count;
    op.output_count = to == kNone ? 0 : 1;
    std::vector<uint32_t> blocks = from;
    if (to != kNone) blocks.push_back(to);
    for (size_t i = 0; i < blocks.size(); ++i) {
      Operand operand;
      operand.op = static_cast<uint32_t>(step_.ops.size());
      operand.block = blocks[i];
      operand.shape = 1, operand.dtype = kFloatType;
      if (i >= from.size()) operand.flags = trace::kTensorIsOutput;
      step_.operands.push_back(operand);
    }
    step_.ops.push_back(op);
    if (to != kNone && step_.blocks[to].begin > op.begin)
      step_.blocks[to].op = static_cast<uint32_t>(step_.ops.size() - 1);
    return static_cast<uint32_t>(step_.ops.size() - 1);
  }

  uint32_t gradient_ = 0, sum_ = 0;

 private:
  uint32_t Name(const std::string& name) {
    for (uint32_t i = 0; i < step_.own_texts->size(); ++i)
      if ((*step_.own_texts)[i] == name) return Step::kFirstOwnText + i;
    return Text(name);
  }
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

}  // namespace
}  // namespace vramscope::whatif
