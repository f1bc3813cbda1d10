// SPDX-License-Identifier: Apache-2.0
// Nested checkpoints. Oracle: "Nestable Checkpoint" in torch/utils/checkpoint.py: saved tensors belong to the
// innermost segment, and a segment's inputs to the one around it. Second oracle: what PyTorch expects of a
// chain of products under a memory budget.
#include "profiler/whatif/checkpoints/checkpointer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "profiler/whatif/checkpoints/kept_ops.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/testing/lives.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

using testing::ElementsAre;

// stage from 0 to 60: layer a from 2 to 18, layer b from 20 to 36, and an operator after them. Each creates a
// tensor that its node saves, and then its result, which the next node saves too. Backward runs the nodes
// from 110 on.
//
//   forward   in ─ a: inner_a, out_a ─ b: inner_b, out_b ─ last ─ result
class NestedCheckpointTest : public testing::Test, protected WrittenStep {
 protected:
  NestedCheckpointTest() {
    Module("stage", 0, 60);
    Module("stage.a", 2, 18, 0);
    Module("stage.b", 20, 36, 0);
    in_ = AddBlock(1, 190);
    inner_a_ = AddBlock(5, 152);
    out_a_ = AddBlock(10, 132);
    inner_b_ = AddBlock(25, 132);
    out_b_ = AddBlock(30, 112);
    result_ = AddBlock(45, 250);
    const NodeIndex a = Node(150), b = Node(130), last = Node(110);
    Work(4, a, {in_, inner_a_});
    Work(9, a, {inner_a_, out_a_});
    Work(24, b, {out_a_, inner_b_});
    Work(29, b, {inner_b_, out_b_});
    Work(44, last, {out_b_, result_});
  }

  // Start and end of the copies of a block, with a small tolerance.
  [[nodiscard]] std::vector<std::pair<Position, Position>> Lives(BlockIndex block,
                                                                 std::string_view modules) const {
    Scene scene = MakeScene(step_);
    EXPECT_TRUE(CheckpointLever().Apply(step_, modules, scene).ok());
    return LivesOf(scene, block);
  }
  // Adds an operator of layer b that uses the block too.
  void SeeInB(BlockIndex block) {
    Operand operand;
    operand.op = 2;
    operand.block = block;
    step_.operands.push_back(operand);
  }

  BlockIndex in_, inner_a_, out_a_, inner_b_, out_b_, result_;
};

TEST_F(NestedCheckpointTest, OneLevelMakesAllAgainAtOnce) {
  // Recomputed at 110, up to what `last` saves.
  EXPECT_THAT(Lives(inner_a_, "stage"),
              ElementsAre(Life(5, 11), Life(Recomputed(110, 0, 0, 5), HooksAfter(151, 50))));
  EXPECT_THAT(Lives(inner_b_, "stage"),
              ElementsAre(Life(25, 31), Life(Recomputed(110, 0, 0, 25), HooksAfter(131, 50))));
}

// leaky_relu_() on a view: the gradient is copied before the inner node unpacks what it saved.
TEST_F(NestedCheckpointTest, CopySlicesHasItsCopiesBeforeAnythingIsMadeAgain) {
  const OpIndex around = Call("torch::autograd::CopySlices", {}, 111, 120);
  const OpIndex within = Call("LeakyReluBackward1", around, 114, 119);
  step_.ops[around].node = step_.ops[within].node = 2;  // last
  EXPECT_THAT(Lives(inner_a_, "stage"),
              ElementsAre(Life(5, 11), Life(Recomputed(114, 0, 0, 5), HooksAfter(151, 50))));
}

TEST_F(NestedCheckpointTest, AnInnerOneKeepsNothingWhileTheOuterOneIsMadeAgain) {
  // With the stage only until its last use, then with its layer until its node has worked.
  EXPECT_THAT(Lives(inner_a_, "stage,stage.a,stage.b"),
              ElementsAre(Life(5, 11), Life(Recomputed(150, 1, 2, 5), HooksAfter(151, 50)),
                          Life(Recomputed(110, 0, 0, 5), Recomputed(110, 0, 0, 11))));
  EXPECT_THAT(Lives(inner_b_, "stage,stage.*"),
              ElementsAre(Life(25, 31), Life(Recomputed(130, 1, 20, 25), HooksAfter(131, 50)),
                          Life(Recomputed(110, 0, 0, 25), Recomputed(110, 0, 0, 31))));
}

TEST_F(NestedCheckpointTest, WhatGoesIntoAnInnerOneIsKeptByTheOuterOne) {
  EXPECT_THAT(Lives(out_a_, "stage,stage.*"),
              ElementsAre(Life(10, 36), Life(Recomputed(110, 0, 0, 10), HooksAfter(131, 50))));
  // The stage's own input stays until all of its nodes have released it.
  EXPECT_THAT(Lives(in_, "stage.*"), ElementsAre(Life(1, 190)));
}

// Informer's measure of queries, which yields only indices: its graph is freed with the function's variables.
TEST_F(NestedCheckpointTest, WhatANodeKeptThatIsNotRunGoesAgainAsItWent) {
  const auto dead = step_.nodes.Next();
  step_.nodes.push_back({Text("dead"), 0, 6, kForever, kForever});
  const BlockIndex measure = AddBlock(6, HooksAfter(8, 50));
  Saved saved;
  saved.block = measure, saved.node = dead, saved.at = 7, saved.released = HooksAfter(8, 50);
  step_.saved.push_back(saved);
  EXPECT_THAT(
      Lives(measure, "stage.a"),
      ElementsAre(Life(6, 6), Life(Recomputed(150, 0, 2, 6), Recomputed(150, 0, 2, HooksAfter(8, 50)))))
      << "in a graph alone";
  EXPECT_THAT(Lives(inner_a_, "stage.a"),
              ElementsAre(Life(5, 11), Life(Recomputed(150, 0, 2, 5), HooksAfter(151, 50))));
  step_.saved.back().block = inner_a_, step_.saved.back().released = kForever;
  EXPECT_THAT(Lives(inner_a_, "stage.a"),
              ElementsAre(Life(5, 11), Life(Recomputed(150, 0, 2, 5), HooksAfter(151, 50))))
      << "not seen";
}

// Layer a is called again from 38 to 42, after b. It is then unknown how long autocast's copies of its
// weights live.
TEST_F(NestedCheckpointTest, UnderAutocastAModuleIsNotCheckpointedTwiceWithOthersBetween) {
  Module("stage.a", 38, 42, 0);
  const auto why = [&](std::string_view modules) -> std::string {
    Scene scene = MakeScene(step_);
    const Result<Outcome> outcome = CheckpointLever().Apply(step_, modules, scene);
    return outcome.ok() ? "" : outcome.error().sentence;
  };
  EXPECT_EQ(why("stage.*"), "") << "in float32 there are none";
  step_.autocast.push_back({0, 60});
  EXPECT_THAT(why("stage.*"),
              testing::StartsWith("stage.a is called several times a step, with other modules"));
  EXPECT_EQ(why("stage.a"), "") << "no other that is checkpointed";
  EXPECT_EQ(why("stage.b"), "") << "called once";
}

TEST_F(NestedCheckpointTest, WhatAKeptOperatorTakesForItselfIsNotTakenAgain) {
  step_.ops[0].name = Text("aten::mm");
  const Op& mm = step_.ops[0];
  const BlockIndex workspace = AddBlock(HooksAfter(mm.begin, 50), HooksAfter(mm.end, -50));
  EXPECT_EQ(Lives(workspace, "stage.a").size(), 2u);
  EXPECT_EQ(Lives(workspace, "stage.a,ops:mm").size(), 1u);
}

// fully_shard(a), fully_shard(b) in a stage that is checkpointed as a whole.
TEST_F(NestedCheckpointTest, UnitsWithinAreGatheredWhenTheyAreMadeAgain) {
  const BlockIndex of_a = AddBlock(kBefore, kForever), of_b = AddBlock(kBefore, kForever);
  const auto gather = [&](BlockIndex parameter, uint16_t stream, Position begin, Position end) {
    const BlockIndex block = AddBlock(begin, end);
    step_.blocks[block].copy_of = parameter;
    step_.blocks[block].stream = stream;
    step_.blocks[block].category = classify::Category::kCommunication;
    return block;
  };
  (void)gather(of_a, 1, 2, 21), (void)gather(of_a, 0, 3, 18), (void)gather(of_b, 0, 21, 36);
  const BlockIndex together_a = gather(of_a, 1, 131, 148), a = gather(of_a, 0, 148, 152);
  const BlockIndex gradients_a = gather(of_a, 0, 151, 160), b = gather(of_b, 0, 109, 132);
  EXPECT_THAT(Lives(together_a, "stage"),
              ElementsAre(Life(Recomputed(110, 0, 0, 2), Recomputed(110, 0, 0, 21))));
  EXPECT_THAT(Lives(a, "stage"), ElementsAre(Life(Recomputed(110, 0, 0, 3), 152)));
  EXPECT_THAT(Lives(gradients_a, "stage"), ElementsAre(Life(151, 160)));
  EXPECT_THAT(Lives(b, "stage"), ElementsAre(Life(109, 132))) << "its backward asked for it";
  EXPECT_THAT(Lives(a, "stage.a"), ElementsAre(Life(148, 152))) << "the segment is the unit";
}

// A denoiser's context, which requires no gradient.
TEST_F(NestedCheckpointTest, WhatSeveralAreGivenGoesToTheHostAndComesBackForEach) {
  const BlockIndex context = AddBlock(HooksAfter(1, 50), 152);
  Work(6, 0, {context, AddBlock(HooksAfter(6, 50), 9)}),
      Work(26, 1, {context, AddBlock(HooksAfter(26, 50), 29)});
  const auto copies = [&] {
    Scene scene = MakeScene(step_);
    EXPECT_TRUE(CheckpointLever().Apply(step_, "stage.*", scene).ok());
    EXPECT_TRUE(OffloadLever().Apply(step_, "activations", scene).ok());
    return std::count_if(scene.blocks.begin(), scene.blocks.end(),
                         [&](const whatif::Block& one) { return one.origin == context; });
  };
  EXPECT_EQ(copies(), 3) << "itself, and one for each of two layers";
  Work(46, 2, {context, AddBlock(HooksAfter(46, 50), 49)});
  EXPECT_EQ(copies(), 4) << "one for what is outside of checkpoints too";
}

TEST_F(NestedCheckpointTest, TheResultOfTheLastIsKeptByTheOuterOnesNode) {
  EXPECT_THAT(Lives(out_b_, "stage,stage.*"),
              ElementsAre(Life(30, 46), Life(Recomputed(110, 0, 0, 30), HooksAfter(111, 50))));
}

TEST_F(NestedCheckpointTest, KeptOperatorsWithinOthersAreRefused) {
  Scene scene = MakeScene(step_);
  EXPECT_FALSE(CheckpointLever().Apply(step_, "stage,stage.a,ops:mm", scene).ok());
}

// torch.cdist(): the policy does not see the matrix products inside it.
TEST_F(NestedCheckpointTest, AProductInsideOfAnOperatorWithAFormulaIsNoneToKeep) {
  step_.ops[0].name = Text("aten::mm"), step_.ops[0].node = {};
  EXPECT_TRUE(FindKeptOps(step_, {"mm"}).ok());
  step_.ops[0].parent = step_.ops.Next();
  step_.ops.push_back(step_.ops[0]);
  step_.ops.back().name = Text("aten::_euclidean_dist"), step_.ops.back().parent = {};
  EXPECT_FALSE(FindKeptOps(step_, {"mm"}).ok());
}

// x.cos(), then five times a matrix product and cos(), then sum(): nodes save the operators' inputs. Oracle:
// test_matmul_even_chain of MemoryBudgetTest in PyTorch's test/functorch/test_ac.py. It lists, for each tenth
// of activation_memory_budget, what is kept until backward (in matrices, in addition to x) and how many
// products are recomputed. Its partitioner chooses operators. Chains of modules that each begin with cos()
// give the same choices:
//
//   budget 0.2     c6 [ c4 [ cos mm cos mm cos mm cos mm ]  b5 [ cos mm ]  b6 [ cos ] ] sum
//                  checkpointed: c4, b5
class EvenChainTest : public testing::Test, protected WrittenStep {
 protected:
  static constexpr uint32_t kProducts = 5, kOperators = 2 * kProducts + 1;

  EvenChainTest() {
    for (uint32_t chain = kProducts + 1; chain > 0; --chain)
      Module(Chain(chain), HooksAfter(1, -10 * static_cast<int32_t>(chain)), HooksAfter(8 * chain, 80),
             chain > kProducts ? CallIndex() : CallIndex(kProducts - chain));
    for (uint32_t block = 1; block <= kProducts + 1; ++block)
      Module(Block(block), 8 * block - 7, HooksAfter(8 * block, 50), CallIndex(kProducts + 1 - block));
    x_ = AddBlock(0, 200);
    BlockIndex given = x_;
    for (uint32_t i = 0; i < kOperators; ++i) {
      const Position at = 2 + 4 * i, backward = 170 - 6 * i;
      const bool last = i + 1 == kOperators;
      made_.push_back(AddBlock(at + 1, last ? 90 : backward - 4));
      Work(at, Node(backward), {given, made_.back()});
      given = made_.back();
    }
  }

  static std::string Chain(uint32_t chain) {
    std::string path = "c6";
    for (uint32_t below = kProducts; below >= chain; --below) path += ".c" + std::to_string(below);
    return path;
  }
  static std::string Block(uint32_t block) { return Chain(block) + ".b" + std::to_string(block); }

  // The operators up to the first product as one segment, and each later product as one.
  static std::string Patterns(uint32_t chain) {
    std::string patterns = Chain(chain);
    for (uint32_t block = chain + 1; block <= kProducts; ++block) patterns += "," + Block(block);
    return patterns;
  }

  struct Costs {
    size_t kept = 0, again = 0;
    bool operator==(const Costs&) const = default;
  };
  [[nodiscard]] Costs With(const std::string& patterns) const {
    Scene scene = MakeScene(step_);
    if (!patterns.empty()) {
      EXPECT_TRUE(CheckpointLever().Apply(step_, patterns, scene).ok()) << patterns;
    }
    Costs costs;
    std::map<BlockIndex, size_t> times;
    for (const whatif::Block& one : scene.blocks) {
      costs.kept += one.origin != x_ && one.begin <= 100 && one.end > 100;
      ++times[one.origin];
    }
    for (uint32_t i = 1; i < kOperators; i += 2) costs.again += times[made_[i]] - 1;
    return costs;
  }

  BlockIndex x_;
  std::vector<BlockIndex> made_;
};

TEST_F(EvenChainTest, KeepsAndComputesAgainWhatPyTorchExpectsOfEachBudget) {
  EXPECT_EQ(With(""), (Costs{10, 0})) << "budget 1.0";
  for (size_t tenths = 0; tenths <= kProducts; ++tenths) {
    const auto chain = static_cast<uint32_t>(kProducts + 1 - tenths);
    EXPECT_EQ(With(Patterns(chain)), (Costs{tenths, kProducts - tenths})) << "budget 0." << tenths;
  }
}

}  // namespace
}  // namespace vramscope::whatif
