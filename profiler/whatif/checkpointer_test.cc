// SPDX-License-Identifier: Apache-2.0
// Checkpoints within checkpoints. The oracle is "Nestable Checkpoint" in torch/utils/checkpoint.py: tensors
// are kept by the innermost segment alone, and what goes into a segment by the one around it.
#include "profiler/whatif/checkpointer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/lever.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pair;

// stage from 0 to 60: layer a from 2 to 18, layer b from 20 to 36, and an operator behind them. Each makes
// what its node keeps, and then its result, which the next node keeps too. Backward runs the nodes from 110
// on.
//
//   forward   in ─ a: inner_a, out_a ─ b: inner_b, out_b ─ last ─ result
class NestedCheckpointTest : public testing::Test {
 protected:
  NestedCheckpointTest() {
    run_.streams.push_back(0);
    step_.run = &run_;
    step_.length = 300;
    step_.own_texts = std::make_shared<std::deque<std::string>>();
    step_.shapes.push_back({});
    step_.backward.push_back({100, 200});
    Module("stage", 0, 60);
    Module("stage.a", 2, 18, 0);
    Module("stage.b", 20, 36, 0);
    in_ = AddBlock(1, 190);
    inner_a_ = AddBlock(5, 152);
    out_a_ = AddBlock(10, 132);
    inner_b_ = AddBlock(25, 132);
    out_b_ = AddBlock(30, 112);
    result_ = AddBlock(45, 250);
    const uint32_t a = Node(150), b = Node(130), last = Node(110);
    Work(4, a, {in_, inner_a_});
    Work(9, a, {inner_a_, out_a_});
    Work(24, b, {out_a_, inner_b_});
    Work(29, b, {inner_b_, out_b_});
    Work(44, last, {out_b_, result_});
  }

  // Begin and end of what is made of a block, apart from a hair.
  [[nodiscard]] std::vector<std::pair<Position, Position>> Lives(uint32_t block,
                                                                 std::string_view modules) const {
    Scene scene = MakeScene(step_);
    EXPECT_TRUE(CheckpointLever().Apply(step_, modules, scene).ok());
    std::vector<std::pair<Position, Position>> lives;
    for (const Block& one : scene.blocks)
      if (one.origin == block) lives.emplace_back(one.begin, one.end);
    return lives;
  }
  static auto Life(Position begin, Position end) {
    constexpr double kNear = 0.01;
    return Pair(DoubleNear(begin, kNear), DoubleNear(end, kNear));
  }

  uint32_t in_, inner_a_, out_a_, inner_b_, out_b_, result_;
  model::Run run_;
  Step step_;

 private:
  uint32_t Text(const std::string& text) {
    step_.own_texts->push_back(text);
    return Step::kFirstOwnText + static_cast<uint32_t>(step_.own_texts->size() - 1);
  }
  void Module(const std::string& path, Position begin, Position end, uint32_t parent = kNone) {
    step_.modules.push_back({Text(path), parent, begin, end});
  }
  uint32_t AddBlock(Position begin, Position end) {
    StepBlock block;
    block.id = kNone;
    block.requested = 512;
    block.begin = begin;
    block.end = end;
    step_.blocks.push_back(block);
    return static_cast<uint32_t>(step_.blocks.size() - 1);
  }
  uint32_t Node(Position begin) {
    step_.nodes.push_back({Text("node"), kNone, kBefore, begin, begin + 2});
    return static_cast<uint32_t>(step_.nodes.size() - 1);
  }
  // An operator of two moments that works on the first block and makes the second one; the node keeps the
  // first.
  void Work(Position at, uint32_t node, const std::vector<uint32_t>& blocks) {
    Op op;
    op.name = Text("work");
    op.begin = at;
    op.end = at + 2;
    op.first_input = static_cast<uint32_t>(step_.operands.size());
    op.input_count = 1;
    op.first_output = op.first_input + 1;
    op.output_count = 1;
    for (const uint32_t block : blocks) {
      Operand operand;
      operand.op = static_cast<uint32_t>(step_.ops.size());
      operand.block = block;
      if (block == blocks.back()) operand.flags = trace::kTensorIsOutput;
      step_.operands.push_back(operand);
    }
    step_.ops.push_back(op);
    Saved saved;
    saved.block = blocks.front();
    saved.node = node;
    saved.at = at;
    saved.released = step_.nodes[node].begin + 1.5;
    step_.saved.push_back(saved);
  }
};

TEST_F(NestedCheckpointTest, OneLevelMakesAllAgainAtOnce) {
  // Computed again at 110, up to what `last` keeps.
  EXPECT_THAT(Lives(inner_a_, "stage"), ElementsAre(Life(5, 11), Life(110.07, 151.5)));
  EXPECT_THAT(Lives(inner_b_, "stage"), ElementsAre(Life(25, 31), Life(110.33, 131.5)));
}

TEST_F(NestedCheckpointTest, AnInnerOneKeepsNothingWhileTheOuterOneIsMadeAgain) {
  // With the stage only until its last use, then with its layer until its node has worked.
  EXPECT_THAT(Lives(inner_a_, "stage,stage.a,stage.b"),
              ElementsAre(Life(5, 11), Life(150.53, 151.5), Life(110.03, 110.07)));
  EXPECT_THAT(Lives(inner_b_, "stage,stage.*"),
              ElementsAre(Life(25, 31), Life(130.58, 131.5), Life(110.17, 110.21)));
}

TEST_F(NestedCheckpointTest, WhatGoesIntoAnInnerOneIsKeptByTheOuterOne) {
  EXPECT_THAT(Lives(out_a_, "stage,stage.*"), ElementsAre(Life(10, 36), Life(110.07, 131.5)));
  // The stage's own input stays until all of its nodes have let go.
  EXPECT_THAT(Lives(in_, "stage.*"), ElementsAre(Life(1, 190)));
}

TEST_F(NestedCheckpointTest, TheResultOfTheLastIsKeptByTheOuterOnesNode) {
  EXPECT_THAT(Lives(out_b_, "stage,stage.*"), ElementsAre(Life(30, 46), Life(110.2, 111.5)));
}

TEST_F(NestedCheckpointTest, KeptOperatorsWithinOthersAreRefused) {
  Scene scene = MakeScene(step_);
  EXPECT_FALSE(CheckpointLever().Apply(step_, "stage,stage.a,ops:mm", scene).ok());
}

}  // namespace
}  // namespace vramscope::whatif
