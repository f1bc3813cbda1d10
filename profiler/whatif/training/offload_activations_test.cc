// SPDX-License-Identifier: Apache-2.0
// Activations on the host, for layers that are recomputed in backward: the layer's inputs move there. Oracle:
// torch/utils/checkpoint.py, whose _NoopSaveInputs only keeps positional arguments. tests/whatif_accuracy has
// whole programs.
#include "profiler/whatif/training/offload_activations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include "profiler/whatif/testing/lives.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using testing::ElementsAre;
using testing::Pair;

// A wrapper from 10 to 50 calls its layer from 12 to 48, which saves its input. Backward recomputes the layer
// from 120 on; its node works at 160.
class OffloadedCheckpointTest : public testing::Test, protected WrittenStep {
 protected:
  OffloadedCheckpointTest() {
    Module("layer", 10, 50);
    Module("layer", 12, 48, 0);
    hidden_ = AddBlock(2, 162);
    mask_ = AddBlock(4, 162);
    unkept_ = AddBlock(6, 60);
    const BlockIndex out = AddBlock(22, 170);
    const NodeIndex node = Node(160);
    Work(20, node, {hidden_, out});
    Work(24, node, {mask_, out});
  }

  // Start and end of the copies of a block, with a small tolerance.
  [[nodiscard]] std::vector<std::pair<Position, Position>> Lives(BlockIndex block) const {
    Scene scene = MakeScene(step_);
    scene.again.push_back({10, 50, 120, 180, 150, held_});
    EXPECT_TRUE(OffloadActivations(step_, scene).ok());
    return LivesOf(scene, block);
  }

  BlockIndex hidden_, mask_, unkept_;
  std::vector<std::pair<BlockIndex, Position>> held_;  // by a graph that a module holds
};

// The wrapper holds the input until it returns.
TEST_F(OffloadedCheckpointTest, WhatIsGivenByPositionComesBackUntilItsNodeHasWorked) {
  EXPECT_THAT(Lives(hidden_), ElementsAre(Life(2, 50), Life(120, HooksAfter(161, 50))));
}

TEST_F(OffloadedCheckpointTest, WhatComesBackGoesWhenItsNodeHasWorkedAndBeforeTheEngineSumsThatUp) {
  step_.ops.push_back(
      {.name = step_.nodes[0].name, .node = 0, .begin = HooksAfter(160, 10), .end = HooksAfter(160, 90)});
  EXPECT_THAT(Lives(hidden_), ElementsAre(Life(2, 50), Life(120, In(Stage::kUnpacked, HooksAfter(160, 90)))));
}

// position_bias.requires_grad = True: the scene also has the gradient of the mask.
TEST_F(OffloadedCheckpointTest, WhatAGradientIsAskedOfStaysWithTheGraphToo) {
  Scene scene = MakeScene(step_);
  scene.again.push_back({10, 50, 120, 180, 150, {}});
  whatif::Block& mask = *std::find_if(scene.blocks.begin(), scene.blocks.end(),
                                      [&](const whatif::Block& one) { return one.origin == unkept_; });
  mask.end = 310;
  whatif::Block gradient = mask;
  gradient.begin = 160, gradient.category = classify::Category::kGradient;
  scene.blocks.push_back(gradient);
  ASSERT_TRUE(OffloadActivations(step_, scene).ok());
  EXPECT_THAT(LivesOf(scene, unkept_), ElementsAre(Life(6, 310), Life(160, 310)));
}

// zeros(..., requires_grad=True) in the first layer of a model, which adds it and passes it on:
// AccumulateGrad holds the tensor itself.
TEST_F(OffloadedCheckpointTest, SoDoesOneThatTheFirstPartMakesAndKeeps) {
  const BlockIndex bias = AddBlock(45, 162);
  Work(44, step_.saved.front().node, {bias, AddBlock(46, 170)});
  Work(54, Node(114), {bias, AddBlock(55, 170)});
  Scene scene = MakeScene(step_);
  scene.again.push_back({10, 50, 120, 180, 150, {}});
  scene.again.push_back({52, 58, 105, 118, 110, {}});
  whatif::Block gradient = *std::find_if(scene.blocks.begin(), scene.blocks.end(),
                                         [&](const whatif::Block& one) { return one.origin == bias; });
  gradient.begin = 110, gradient.category = classify::Category::kGradient;
  scene.blocks.push_back(gradient);
  ASSERT_TRUE(OffloadActivations(step_, scene).ok());
  EXPECT_THAT(LivesOf(scene, bias),
              ElementsAre(Life(45, 162), Life(110, 162), Life(105, HooksAfter(115, 50))));
}

// A second node saves it beyond the step.
TEST_F(OffloadedCheckpointTest, NoCopyIsKeptForGood) {
  Work(26, Node(180), {hidden_, AddBlock(27, 190)});
  step_.saved.back().released = kForever;
  for (const auto& [begin, end] : Lives(hidden_)) EXPECT_LT(end, kForever);
}

TEST_F(OffloadedCheckpointTest, WhatAGraphKeepsThatAModuleHoldsComesBackForAsLong) {
  held_ = {{hidden_, 320}};
  EXPECT_THAT(Lives(hidden_), ElementsAre(Life(2, 50), Life(120, 320)));
  EXPECT_THAT(Lives(mask_), ElementsAre(Life(4, 50), Life(120, HooksAfter(161, 50))))
      << "the graph does not keep it";
  held_ = {{hidden_, 155}};
  EXPECT_THAT(Lives(hidden_), ElementsAre(Life(2, 50), Life(120, HooksAfter(161, 50))))
      << "its node has it longer";
}

// For a pooled output that nobody reads.
TEST_F(OffloadedCheckpointTest, WhatANodeKeepsThatNeverRunsDoesNotComeBack) {
  const BlockIndex pooled = AddBlock(52, 80);
  Work(54, Node(kForever), {pooled, AddBlock(55, 80)});
  step_.saved.back().released = 80;
  EXPECT_THAT(Lives(pooled), ElementsAre(Life(52, 56)));
}

// A pooled output that tanh() computed and saves: it exists because a variable holds it.
class OffloadedResultTest : public OffloadedCheckpointTest {
 protected:
  OffloadedResultTest() : pooled_(AddBlock(55, 80)) {
    const NodeIndex node = Node(kForever);
    Work(54, node, {AddBlock(52, 56), pooled_});
    step_.nodes[node].op = OpIndex(step_.ops.size() - 1);
    step_.saved.back().block = pooled_, step_.saved.back().released = 80;
  }

  BlockIndex pooled_;
};

TEST_F(OffloadedResultTest, WhatKeepsItsOwnNodeStays) {
  EXPECT_THAT(Lives(pooled_), ElementsAre(Life(55, 80)));
}

TEST_F(OffloadedResultTest, ButNotWhereWhatComesOfItMayKeepTheNode) {
  Work(58, Node(160), {pooled_, AddBlock(59, 162)});
  step_.saved.pop_back();
  EXPECT_THAT(Lives(pooled_), ElementsAre(Life(55, 60)));
}

// A layer that ends in an activation: ReluBackward0 saves its result, from what the layer recomputes, and the
// next layer saves its input.
TEST_F(OffloadedCheckpointTest, WhatThePartsOwnNodeKeepsTooLeavesForwardWithTheNextPart) {
  const BlockIndex result = AddBlock(45, 162);
  Work(44, step_.saved.front().node, {result, result});
  Work(54, Node(114), {result, AddBlock(55, 170)});
  Scene scene = MakeScene(step_);
  scene.again.push_back({10, 50, 120, 180, 150, {}});
  scene.again.push_back({52, 58, 105, 118, 110, {}});
  EXPECT_TRUE(OffloadActivations(step_, scene).ok());
  EXPECT_THAT(LivesOf(scene, result), ElementsAre(Life(45, 56), Life(105, HooksAfter(115, 50))));
}

// A layer whose call was not recorded: saved tensors move to the host.
TEST_F(OffloadedCheckpointTest, WithoutAWrapperAllThatIsKeptGoes) {
  EXPECT_THAT(Lives(hidden_), ElementsAre(Life(2, 50), Life(120, HooksAfter(161, 50))));
  EXPECT_THAT(Lives(mask_), ElementsAre(Life(4, 50), Life(120, HooksAfter(161, 50))));
}

// x + self.convolve(self.norm(x)), where norm copies x: no node saves x itself, but the checkpoint keeps it.
TEST_F(OffloadedCheckpointTest, SoDoesWhatNoNodeKeepsAndThePartWorksOn) {
  const OpIndex op = Call("aten::add", {}, 30, 32);
  step_.operands.emplace_back().op = op;
  step_.operands.back().block = unkept_;
  step_.ops.back().input_count = 1;
  EXPECT_THAT(Lives(unkept_), ElementsAre(Life(6, 60), Life(120, 150)));
  step_.ops.back().node = 0;
  EXPECT_THAT(Lives(unkept_), ElementsAre(Life(6, 60)));
}

// One context for all blocks of a denoiser, checkpoint(block, hidden, context).
TEST_F(OffloadedCheckpointTest, AsDoesWhatTwoPartsAreGivenAlike) {
  Work(54, Node(114), {mask_, AddBlock(55, 170)});
  Scene scene = MakeScene(step_);
  scene.again.push_back({10, 50, 120, 180, 150, {}});
  scene.again.push_back({52, 58, 105, 118, 110, {}});
  EXPECT_TRUE(OffloadActivations(step_, scene).ok());
  EXPECT_THAT(LivesOf(scene, mask_),
              ElementsAre(Life(4, 56), Life(120, HooksAfter(161, 50)), Life(105, HooksAfter(115, 50))));
}

// A mask of 128 elements; the layer receives a view of it that nothing else describes.
class OffloadedViewTest : public testing::Test, protected WrittenOperators {
 protected:
  OffloadedViewTest() {
    Module("layer", 10, 50), Module("layer", 12, 48, 0);
    mask_ = AddBlock(4, 162);
    AddOp("aten::triu", {}, {3, 5}, {}, mask_);
    used_ = AddOp("aten::add", {}, {20, 22}, {mask_}, AddBlock(21, 170));
    AddOp("aten::sum", {}, {90, 92}, {AddBlock(80, 170)}, {});
    Saved saved;
    saved.block = 2, saved.at = 91, saved.released = 165;
    step_.saved.push_back(saved);
  }

  // The operand of the layer's first operator that uses the mask.
  void Given(std::initializer_list<int64_t> sizes, std::initializer_list<int64_t> strides) {
    Operand& operand = step_.operands[step_.ops[used_].first_input];
    operand.shape = Shaped(sizes), operand.strides = Shaped(strides);
  }
  // Bytes of the copies, ordered by their start.
  [[nodiscard]] std::vector<std::pair<Position, uint64_t>> Copies() const {
    Scene scene = MakeScene(step_);
    scene.again.push_back({10, 50, 120, 180, 150, {}});
    EXPECT_TRUE(OffloadActivations(step_, scene).ok());
    std::vector<std::pair<Position, uint64_t>> copies;
    for (const whatif::Block& one : scene.blocks)
      if (one.origin == mask_ && one.begin >= 10) copies.emplace_back(one.begin.event, one.bytes);
    std::sort(copies.begin(), copies.end());
    return copies;
  }

  BlockIndex mask_;
  OpIndex used_;
};

TEST_F(OffloadedViewTest, TheWholeOfItComesBackAsItIs) {
  Given({128}, {1});
  EXPECT_THAT(Copies(), ElementsAre(Pair(120, 512)));
}

TEST_F(OffloadedViewTest, WhatIsExpandedGoesAndComesBackWrittenOut) {
  Given({8, 128}, {0, 1});
  EXPECT_THAT(Copies(), ElementsAre(Pair(10, 4096), Pair(120, 4096)));
}

// A damaged trace.
TEST_F(OffloadedViewTest, OfWhichThereAreStridesForOtherDimensionsIsTakenAsAWhole) {
  Given({8, 128}, {});
  EXPECT_THAT(Copies(), ElementsAre(Pair(120, 512)));
}

TEST_F(OffloadedViewTest, OfAPartItsOwnElements) {
  Given({64}, {1});
  EXPECT_THAT(Copies(), ElementsAre(Pair(120, 256)));
  Given({64}, {2});
  EXPECT_THAT(Copies(), ElementsAre(Pair(10, 256), Pair(120, 256))) << "with gaps";
}

// An operator of backward copies keys that lie between queries and values, unless they come back without
// gaps: torch.Tensor.cpu() leaves none.
TEST_F(OffloadedCheckpointTest, WhatComesBackWithoutGapsIsNotCopiedForAnOperator) {
  const NodeIndex node = step_.saved.front().node;
  const BlockIndex copy = AddBlock(HooksAfter(160, 40), 161);
  const OpIndex op = Call("aten::contiguous", {}, HooksAfter(160, 30), HooksAfter(160, 60));
  step_.dims = {2, 4, 8, 1};
  step_.shapes.push_back({0, 2, true}), step_.shapes.push_back({2, 2, true});
  for (const BlockIndex block : {hidden_, copy}) {
    Operand operand;
    operand.op = op, operand.block = block, operand.shape = 1, operand.strides = 2;
    step_.operands.push_back(operand);
  }
  step_.ops[op].node = node;
  step_.ops[op].input_count = step_.ops[op].output_count = 1;
  ++step_.ops[op].first_output;
  bool again = false;
  const auto bytes = [&] {
    Scene scene = MakeScene(step_);
    if (again) scene.again.push_back({10, 50, 120, 180, 150, {}});
    EXPECT_TRUE(OffloadActivations(step_, scene).ok());
    uint64_t sum = 0;
    for (const Block& block : scene.blocks) sum += block.origin == copy ? block.bytes : 0;
    return sum;
  };
  EXPECT_EQ(bytes(), 512u);
  step_.saved.front().gaps = true;
  EXPECT_EQ(bytes(), 0u);
  again = true;
  EXPECT_EQ(bytes(), 512u) << "computed again, with gaps as in forward";
  again = false;
  step_.operands[step_.ops[op].first_input].strides = 0;
  EXPECT_EQ(bytes(), 512u) << "how it lies is not known";
  step_.operands[step_.ops[op].first_input].strides = 2;
  step_.operands[step_.ops[op].first_input].block = {};
  EXPECT_EQ(bytes(), 512u) << "which one it is";
}

}  // namespace
}  // namespace vramscope::whatif
