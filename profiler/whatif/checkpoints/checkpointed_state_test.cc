// SPDX-License-Identifier: Apache-2.0
// Checkpointed modules that keep a result until their call in the next step, such as a recurrent state.
// Oracle: torch/utils/checkpoint.py. The module runs once more in backward and then holds the recomputed
// result, whose graph is never released.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/checkpoints/checkpointer.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/testing/lives.h"
#include "profiler/whatif/testing/written_step.h"
#include "profiler/whatif/training/offload_activations.h"

namespace vramscope::whatif {
namespace {

using testing::ElementsAre;
using testing::Pair;

// A layer from 10 to 50 that keeps its state until 45 of the next step, of 300:
//
//   in ─ 20: a ─ 24: state ─ 30: b ─ 40: out          self.state = state, at 45
//
// Backward runs the nodes of b, and then those of a and of the state, from 120 on.
class CheckpointedStateTest : public testing::Test, protected WrittenStep {
 protected:
  CheckpointedStateTest() {
    Module("layer", 10, 50);
    in_ = AddBlock(2, 152);
    a_ = AddBlock(21, 142), state_ = AddBlock(25, kReplaced), b_ = AddBlock(31, 122);
    const BlockIndex out = AddBlock(41, 250);
    of_a_ = Graph(150, 20, {in_, a_}), of_state_ = Graph(140, 24, {a_, state_});
    of_b_ = Graph(130, 30, {state_, b_});
    Graph(120, kLast, {b_, out});
  }

  NodeIndex Graph(Position begin, Position at, const std::vector<BlockIndex>& blocks) {
    const NodeIndex node = Node(begin);
    step_.nodes[node].op = step_.ops.Next();
    step_.nodes[node].made = at;
    Work(at, node, blocks);
    return node;
  }

  [[nodiscard]] Scene Checkpointed(const std::string& modules = "layer") const {
    Scene scene = MakeScene(step_);
    EXPECT_TRUE(CheckpointLever().Apply(step_, modules, scene).ok());
    return scene;
  }

  static constexpr int64_t kLast = 44, kReplaced = 342, kStep = 300;
  // Moments of forward in the recomputation, from 120 on.
  static constexpr Position Again(Position at) { return Recomputed(120, 0, 10, at); }

  BlockIndex in_, a_, state_, b_;
  NodeIndex of_a_, of_state_, of_b_;
};

TEST_F(CheckpointedStateTest, TheModuleKeepsTheOneThatIsMadeAgainAndItsGraph) {
  const Scene scene = Checkpointed();
  EXPECT_THAT(LivesOf(scene, state_), ElementsAre(Life(25, Again(42)), Life(Again(25), kReplaced)))
      << "what forward made goes when the recomputation replaces it";
  EXPECT_THAT(LivesOf(scene, a_), ElementsAre(Life(21, 26), Life(Again(21), kReplaced)));
  EXPECT_THAT(LivesOf(scene, b_), ElementsAre(Life(31, 46), Life(Again(31), HooksAfter(121, 50))))
      << "it is not behind it";
}

TEST_F(CheckpointedStateTest, WhatGoesIntoTheSegmentIsHeldToo) {
  const Scene scene = Checkpointed();
  EXPECT_THAT(LivesOf(scene, in_), ElementsAre(Life(2, kReplaced)));
  ASSERT_EQ(scene.again.size(), 1u);
  EXPECT_THAT(scene.again[0].held, ElementsAre(Pair(in_, kReplaced)));
}

TEST_F(CheckpointedStateTest, ACopyFromTheHostIsHeldAsLong) {
  Scene scene = Checkpointed();
  ASSERT_TRUE(OffloadActivations(step_, scene).ok());
  EXPECT_THAT(LivesOf(scene, in_), testing::Contains(Life(120, kReplaced)));
}

TEST_F(CheckpointedStateTest, OfADetachedStateNothingElseIsKept) {
  step_.ops[2].name = Text("aten::detach");
  const Scene scene = Checkpointed();
  EXPECT_THAT(LivesOf(scene, state_), ElementsAre(Life(25, Again(42)), Life(Again(25), kReplaced)));
  EXPECT_THAT(LivesOf(scene, a_), ElementsAre(Life(21, 26), Life(Again(21), HooksAfter(141, 50))));
  EXPECT_THAT(LivesOf(scene, in_), ElementsAre(Life(2, HooksAfter(151, 50))));
}

// Another module, or the training loop, assigns the next value to the variable.
TEST_F(CheckpointedStateTest, NorOfOneThatIsReplacedOutsideOfTheSegment) {
  for (const int64_t replaced : {kStep + 5, kStep + 55}) {
    step_.blocks[state_].end = replaced;
    const Scene scene = Checkpointed();
    EXPECT_THAT(LivesOf(scene, state_),
                ElementsAre(Life(25, replaced), Life(Again(25), HooksAfter(131, 50))));
    EXPECT_THAT(LivesOf(scene, a_), ElementsAre(Life(21, 26), Life(Again(21), HooksAfter(141, 50))));
  }
}

// The recomputation stops at the last saved tensor.
TEST_F(CheckpointedStateTest, NorWhereTheRecomputationDoesNotComeToIt) {
  step_.blocks[state_].end = kStep + kLast + 1;
  EXPECT_THAT(LivesOf(Checkpointed(), state_),
              ElementsAre(Life(25, kStep + kLast + 1), Life(Again(25), HooksAfter(131, 50))));
}

TEST_F(CheckpointedStateTest, AGradientIsNoneOfThem) {
  step_.blocks[state_].category = classify::Category::kGradient;
  EXPECT_THAT(LivesOf(Checkpointed(), a_), ElementsAre(Life(21, 26), Life(Again(21), HooksAfter(141, 50))));
}

// Results of kept operators are not recomputed: they are kept for longer themselves.
TEST_F(CheckpointedStateTest, ResultsOfKeptOperatorsAreHeldAsTheyAre) {
  step_.ops[0].name = Text("aten::mm");
  EXPECT_THAT(LivesOf(Checkpointed("layer,ops:mm"), a_), ElementsAre(Life(21, kReplaced)));
}

}  // namespace
}  // namespace vramscope::whatif
