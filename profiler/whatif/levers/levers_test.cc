// SPDX-License-Identifier: Apache-2.0
// Levers that keep less, or keep it elsewhere. Oracle: bytes of a small loop, computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/checkpoints/kept_ops.h"
#include "profiler/whatif/lifetimes/last_uses.h"
#include "profiler/whatif/testing/loop.h"

namespace vramscope::whatif {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

uint32_t TextOf(Step& step, std::string_view text) {
  step.own_texts = std::make_shared<std::deque<std::string>>(1, std::string(text));
  return Step::kFirstOwnText;
}

BlockIndex BlockCalled(const Step& step, const char* name) {
  for (const BlockIndex i : step.blocks.Indices()) {
    if (step.blocks[i].id == TheLoop().s.Id(name)) return i;
  }
  return {};
}

TEST(ReadStepTest, SamplesOfCountersDoNotPartAFreeFromTheReleaseThatLedToIt) {
  for (const bool sampled : {false, true}) {
    const Loop loop(sampled);
    const whatif::Step step = loop.Read();
    uint32_t found = 0;
    for (const Saved& saved : step.saved) {
      if (step.blocks[saved.block].id != loop.s.Id("hidden")) continue;
      EXPECT_EQ(step.blocks[saved.block].end, saved.released + 1) << "sampled: " << sampled;
      ++found;
    }
    EXPECT_EQ(found, 1u);
  }
}

// A torch.autograd.Function that recomputes what it did not save, as reversible layers do: its nodes are
// created while no hook is active.
TEST(OffloadTest, WhereBackwardMakesNodesOfItsOwnOnlyTheOptimizerGoes) {
  whatif::Step step = TheLoop().Read();
  const auto node = std::find_if(step.nodes.begin(), step.nodes.end(),
                                 [](const Node& one) { return one.op != model::kNone; });
  ASSERT_NE(node, step.nodes.end());
  node->made = HooksAfter(step.backward.front().begin, 50);
  Scene scene = MakeBaseline(step, *TheLoop().analysis)->scene;
  EXPECT_FALSE(OffloadLever().Apply(step, "activations", scene).ok());
  EXPECT_TRUE(OffloadLever().Apply(step, "optimizer", scene).ok());
}

TEST(OffloadTest, WhatAutogradKeepsGoesWithItsLastUseAndComesBackToItsNode) {
  const Use there = UseAfter({{"offload", "activations"}});
  // At the weight's gradient: weight, state, gradient, and the weight's copy; the batch and its copy, `out`
  // and `between`.
  EXPECT_EQ(there.peak.bytes, 4 * kWeightBytes + 4 * kBatchBytes);
  EXPECT_EQ(there.peak.phase, "backward");
  const whatif::Step step = TheLoop().Read();
  Scene scene = MakeBaseline(step, *TheLoop().analysis)->scene;
  ASSERT_TRUE(OffloadLever().Apply(step, "activations", scene).ok());
  const BlockIndex hidden = BlockCalled(step, "hidden");
  std::vector<Position> begins;
  for (const Block& block : scene.blocks) {
    if (block.origin != hidden) continue;
    begins.push_back(block.begin);
    const bool copy = block.begin > step.blocks[hidden].begin;
    EXPECT_EQ(block.end > scene.backward.front().begin, copy);
  }
  EXPECT_EQ(begins.size(), 2u);
}

// Rows of 20 bytes, which memory-efficient attention padded to 32 in forward. The copy comes back without
// padding, and backward pads it into a second block.
TEST(OffloadTest, RowsOfAMaskAreFilledUpAgainInBackward) {
  whatif::Step step = TheLoop().Read();
  const auto kept = std::find_if(step.saved.begin(), step.saved.end(), [&](const Saved& saved) {
    return saved.released < kForever && saved.node != model::kNone &&
           step.nodes[saved.node].op != model::kNone && step.blocks[saved.block].begin > kBefore;
  });
  ASSERT_NE(kept, step.saved.end());
  constexpr uint64_t kRow = 20, kFilled = 32;
  const auto rows = static_cast<int64_t>(kBatchBytes / kRow);
  kept->share = static_cast<double>(static_cast<uint64_t>(rows) * kRow) /
                static_cast<double>(step.blocks[kept->block].requested);
  kept->gaps = true;
  const auto copies = [&] {
    Scene scene = MakeScene(step);
    (void)OffloadLever().Apply(step, "activations", scene);
    std::vector<uint64_t> bytes;
    for (const Block& block : scene.blocks)
      if (block.origin == kept->block && Within(scene.backward, block.begin)) bytes.push_back(block.bytes);
    return bytes;
  };
  EXPECT_THAT(copies(), ElementsAre(static_cast<uint64_t>(rows) * kRow));
  Op& op = step.ops[step.nodes[kept->node].op];
  op.name = TextOf(step, "aten::_scaled_dot_product_efficient_attention");
  Operand mask;
  mask.block = kept->block;
  mask.argument = 3;
  mask.shape = static_cast<uint32_t>(step.shapes.size());
  step.shapes.push_back({static_cast<uint32_t>(step.dims.size()), 2, true});
  step.dims.insert(step.dims.end(), {rows, static_cast<int64_t>(kRow / sizeof(float))});
  op.first_input = static_cast<uint32_t>(step.operands.size()), op.input_count = 1;
  step.operands.push_back(mask);
  EXPECT_THAT(copies(), UnorderedElementsAre(static_cast<uint64_t>(rows) * kRow,
                                             static_cast<uint64_t>(rows) * kFilled));
}

TEST(OffloadTest, TheTimeIsThatOfAllThatIsKeptThereAndBack) {
  const whatif::Step step = TheLoop().Read();
  Scene scene = MakeBaseline(step, *TheLoop().analysis)->scene;
  const Outcome outcome = OffloadLever().Apply(step, "activations:16GB/s", scene).value();
  EXPECT_DOUBLE_EQ(outcome.extra_ns, 2 * (kWeightBytes + 2 * kBatchBytes) / 16.0);
  EXPECT_THAT(outcome.code, HasSubstr("save_on_cpu"));
}

TEST(OffloadTest, BothTogetherAreEachOfThem) {
  const Use both = UseAfter({{"offload", "optimizer,activations"}});
  // Without optimizer state and temporaries.
  EXPECT_EQ(both.peak.bytes, 3 * kWeightBytes + 4 * kBatchBytes);
  EXPECT_EQ(both.peak.bytes,
            UseAfter({{"offload", "activations,optimizer"}, {"optimizer", "adamw"}}).peak.bytes);
}

TEST(LastUsesTest, ACallHoldsItsArgumentsUntilItReturns) {
  const whatif::Step step = TheLoop().Read();
  const LastUses& uses = LastUsesOf(step);
  const BlockIndex hidden = BlockCalled(step, "hidden");
  // blocks.1, the outermost call that began after its allocation.
  EXPECT_EQ(uses.held[hidden], step.modules[2].end);
  // The weight existed before all calls: the model holds it.
  const BlockIndex weight = BlockCalled(step, "weight");
  EXPECT_LT(uses.held[weight], step.modules[1].end);
}

TEST(FreeEarlyTest, WhatTheLoopKeepsGoesWithItsLastUse) {
  // The name `out` keeps its block into the next step, and the batch stays until the end of the step.
  // Backward last needs the batch for the weight's gradient, and does not need `out`.
  const Use early = UseAfter({{"free-early", "all"}});
  EXPECT_EQ(early.peak.bytes, 4 * kWeightBytes);
  const whatif::Step step = TheLoop().Read();
  Scene scene = MakeBaseline(step, *TheLoop().analysis)->scene;
  const Outcome outcome = FreeEarlyLever().Apply(step, "all", scene).value();
  EXPECT_THAT(outcome.notes,
              ElementsAre(HasSubstr("2 blocks"), HasSubstr("0.0 MiB"), HasSubstr("aten::gelu")));
  EXPECT_FALSE(FreeEarlyLever().Apply(step, "all", scene).ok()) << "nothing is left to be freed";
  EXPECT_FALSE(FreeEarlyLever().Apply(step, "some", scene).ok());
}

// A model requests a gradient for a view of its batch, and nobody reads it: the view's AccumulateGrad holds
// it, and it is freed with the graph.
TEST(FreeEarlyTest, TheGradientOfABatchGoesWithItsGraph) {
  whatif::Step step = TheLoop().Read();
  const BlockIndex gradient = BlockCalled(step, "gradient");
  const auto end_of = [&] {
    Scene scene = MakeBaseline(step, *TheLoop().analysis)->scene;
    EXPECT_TRUE(FreeEarlyLever().Apply(step, "all", scene).ok());
    return std::find_if(scene.blocks.begin(), scene.blocks.end(),
                        [&](const Block& block) { return block.origin == gradient; })
        ->end;
  };
  const Position kept = end_of();
  EXPECT_GT(kept, step.optimizer.front().end) << "a parameter's";
  step.blocks[gradient].leaf = BlockCalled(step, "batch");
  const Position freed = end_of();
  EXPECT_GT(freed, step.backward.front().end);
  EXPECT_LT(freed, step.optimizer.front().begin);
  step.operands.push_back({});  // an operator after backward reads it
  step.operands.back().block = gradient;
  step.operands.back().op = step.ops.Next();
  step.ops.emplace_back().end = step.optimizer.front().begin;
  EXPECT_EQ(end_of(), kept);
}

// loss = model(x).loss: the model's other results are freed before anything is computed from the loss.
TEST(FreeEarlyTest, WhatTheModelReturnedIsLeftWhereItGoesBeforeTheNextOperator) {
  whatif::Step step = TheLoop().Read();
  const BlockIndex out = BlockCalled(step, "out");
  ASSERT_EQ(step.Text(step.modules[2].name), "blocks.1");
  const auto next = std::find_if(step.ops.begin(), step.ops.end(),
                                 [&](const Op& op) { return op.begin >= step.modules[2].end; });
  ASSERT_GT(next->begin, step.modules[2].end + 3) << "else it is a free that follows directly";
  for (const int32_t behind : {-50, 50}) {
    step.blocks[out].end = HooksAfter(next->begin, behind);
    Scene scene = MakeScene(step);
    ASSERT_TRUE(FreeEarlyLever().Apply(step, "all", scene).ok()) << "the batch goes";
    const auto block = std::find_if(scene.blocks.begin(), scene.blocks.end(),
                                    [&](const Block& one) { return one.origin == out; });
    EXPECT_EQ(block->end == step.blocks[out].end, behind < 0);
  }
}

// A step in which `between` is an accumulated gradient: of the batch, or of no known leaf.
whatif::Step StepWithGradient(bool of_batch) {
  whatif::Step step = TheLoop().Read();
  auto& between = step.blocks[BlockCalled(step, "between")];
  between.accumulated = HooksAfter(between.begin, 50);
  if (of_batch) between.leaf = BlockCalled(step, "batch");
  return step;
}

// Each part has its own batch, so gradients of a batch are not added up.
TEST(AccumulateTest, TheGradientOfABatchIsNotAddedUp) {
  for (const bool of_batch : {false, true}) {
    const whatif::Step step = StepWithGradient(of_batch);
    const BlockIndex between = BlockCalled(step, "between");
    Scene scene = MakeScene(step);
    ASSERT_TRUE(AccumulateLever().Apply(step, "2:whole", scene).ok());
    std::vector<Block> parts;
    for (const Block& block : scene.blocks)
      if (block.origin == between) parts.push_back(block);
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_EQ(parts[0].end < parts[1].begin, of_batch);
  }
}

// A weight's gradient whose strides differ from those of the weight.
TEST(AccumulateTest, WhatTheLeafCopiesItDoesOnce) {
  for (const char* const by : {"torch::autograd::AccumulateGrad", "ConvolutionBackward0"}) {
    whatif::Step step = StepWithGradient(false);
    const BlockIndex between = BlockCalled(step, "between");
    const OpIndex op = step.blocks[between].op;
    ASSERT_NE(op, model::kNone);
    step.ops[op].node = step.nodes.Next();
    Node& node = step.nodes.emplace_back();
    node.name = TextOf(step, by);
    Scene scene = MakeScene(step);
    ASSERT_TRUE(AccumulateLever().Apply(step, "2:whole", scene).ok());
    const auto parts =
        std::ranges::count_if(scene.blocks, [&](const Block& block) { return block.origin == between; });
    EXPECT_EQ(parts, std::string_view(by).ends_with("Grad") ? 1 : 2);
  }
}

// The optimizer's zero_grad() does not reach the gradient of a batch.
TEST(ZeroGradTest, TheGradientOfABatchIsNotKept) {
  for (const bool of_batch : {false, true}) {
    whatif::Step step = StepWithGradient(of_batch);
    const BlockIndex between = BlockCalled(step, "between");
    step.blocks[between].end = kForever;
    StepBlock& left = step.blocks.emplace_back(step.blocks[between]);  // of the previous step
    left.begin = kBefore, left.end = 1, left.accumulated = kForever, left.op = {};
    Scene scene = MakeScene(step);
    ASSERT_TRUE(ZeroGradLever().Apply(step, "keep", scene).ok()) << "the parameter's is";
    const auto kept = std::count_if(scene.blocks.begin(), scene.blocks.end(), [&](const Block& block) {
      return block.origin == between && block.birth == Birth::kOnce;
    });
    EXPECT_EQ(kept, of_batch ? 0 : 1);
  }
}

TEST(KeptOpsTest, AChoiceIsModulesAndOperators) {
  const CheckpointChoice choice = ParseCheckpoint("layers.*,ops:matmul+silu,head").value();
  EXPECT_EQ(choice.modules, "layers.*,head");
  EXPECT_THAT(choice.operators, ElementsAre("matmul", "silu"));
  EXPECT_EQ(ParseCheckpoint("ops:mm")->modules, "all");
  EXPECT_TRUE(ParseCheckpoint("every:2")->operators.empty());
  EXPECT_FALSE(ParseCheckpoint("all,ops:").ok());
  const whatif::Step step = TheLoop().Read();
  EXPECT_EQ(FindKeptOps(step, {"matmul"})->size(), 1u);
  EXPECT_EQ(KeptOpsCode(step, *FindKeptOps(step, {"matmul", "gelu"})),
            "torch.ops.aten.gelu.default, torch.ops.aten.mm.default");
  EXPECT_THAT(FindKeptOps(step, {"matmul", "bmm"}).error().sentence, HasSubstr("bmm"));
}

TEST(KeptOpsTest, WhatAKeptOperatorReturnsStaysAndIsNotMadeAgain) {
  const whatif::Step step = TheLoop().Read();
  const Baseline baseline = MakeBaseline(step, *TheLoop().analysis).value();
  const BlockIndex hidden = BlockCalled(step, "hidden");
  const auto lives = [&](const char* value) {
    Scene scene = baseline.scene;
    const Result<Outcome> outcome = CheckpointLever().Apply(step, value, scene);
    EXPECT_TRUE(outcome.ok());
    std::vector<Position> ends;
    for (const Block& block : scene.blocks)
      if (block.origin == hidden) ends.push_back(block.end);
    return ends;
  };
  // One segment with everything: without operators, `hidden` is freed and recomputed.
  EXPECT_EQ(lives("blocks.0,blocks.1").size(), 1u);
  const std::vector<Position> kept = lives("blocks.0,blocks.1,ops:mm");
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_GT(kept.front(), baseline.scene.backward.front().begin);
}

}  // namespace
}  // namespace vramscope::whatif
