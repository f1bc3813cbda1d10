// SPDX-License-Identifier: Apache-2.0
// The first stage of a pipeline, of the loop that is written down in testing/loop.h: blocks.0 alone, which
// has the only weight. tests/whatif_accuracy has real programs, of which one stage is really run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "profiler/whatif/shard/shard.h"
#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/testing/loop.h"

namespace vramscope::whatif {
namespace {

using ::testing::HasSubstr;

std::string Refusal(const char* value) {
  const whatif::Step step = TheLoop().Read();
  return ShardLever().Rewrite(step, value)->error().sentence;
}

TEST(PipelineTest, TheFirstStageHasItsBlocksAlone) {
  const Use stage = After({{"shard", "pp:2"}});
  // While the optimizer steps: weight, gradient, state and what it computes, and the batch; not what blocks.1
  // made, which the loop keeps.
  EXPECT_EQ(stage.peak.bytes, 4 * kWeightBytes + kBatchBytes);
  EXPECT_EQ(stage.peak.phase, "optimizer");
  EXPECT_EQ(After({}).peak.bytes, 4 * kWeightBytes + 2 * kBatchBytes);
}

// In the record only the engine has the gradient of what blocks.0 makes, and adds another one into it. As a
// stage gets it from the next one, backward()'s caller has it too.
TEST(PipelineTest, NothingIsAddedIntoAGradientThatWasReceived) {
  whatif::Step step = TheLoop().Read();
  const auto between = std::find_if(step.ops.begin(), step.ops.end(),
                                    [&](const Op& op) { return step.NameOf(op) == "aten::gelu_backward"; });
  const auto into = std::find_if(step.ops.begin(), step.ops.end(),
                                 [&](const Op& op) { return step.NameOf(op) == "MmBackward0"; });
  ASSERT_TRUE(between != step.ops.end() && into != step.ops.end());
  const uint32_t gradient = OutputsOf(step, *between)[0].block;
  const size_t blocks = step.blocks.size();
  EXPECT_EQ(ShardLever().Rewrite(step, "pp:2")->value().blocks.size(), blocks) << "nothing is added";
  Op& add = step.ops[static_cast<size_t>(into - step.ops.begin()) + 1];
  add.name = TextOf(step, "aten::add_");
  step.operands[add.first_input].block = gradient;
  const whatif::Step stage = ShardLever().Rewrite(step, "pp:2")->value();
  ASSERT_EQ(stage.blocks.size(), blocks + 1);
  EXPECT_EQ(stage.blocks.back().requested, step.blocks[gradient].requested);
  EXPECT_EQ(stage.blocks.back().end, step.blocks[gradient].end);
  EXPECT_GT(stage.blocks[gradient].end, step.blocks[gradient].end) << "until backward() returns";
}

// A table of words that is the head too: what the head's stage computes of its gradient is not there to be
// added.
TEST(PipelineTest, OfTwoGradientsOfASharedParameterOneIsLeft) {
  whatif::Step step = TheLoop().Read();
  const auto find = [&](const char* name) {
    return static_cast<size_t>(std::find_if(step.ops.begin(), step.ops.end(),
                                            [&](const Op& op) { return step.NameOf(op) == name; }) -
                               step.ops.begin());
  };
  const uint32_t seed = InputsOf(step, step.ops[find("GeluBackward0")])[0].block;
  Op& add = step.ops[find("MmBackward0") + 1];
  add.name = TextOf(step, "aten::add");
  step.operands[add.first_input].block = seed;
  const uint32_t own = InputsOf(step, add)[1].block, sum = OutputsOf(step, add)[0].block;
  const whatif::Step stage = ShardLever().Rewrite(step, "pp:2")->value();
  EXPECT_EQ(stage.blocks[sum].requested, 0u);
  EXPECT_EQ(stage.blocks[own].accumulated, step.blocks[sum].accumulated);
  EXPECT_EQ(stage.blocks[own].end, step.blocks[sum].end);
  EXPECT_EQ(stage.blocks[own].name, step.blocks[sum].name);
}

// F0 F1 B0 B1.
TEST(PipelineTest, PartsWaitForTheirGradients) {
  // In backward of the second part, when nothing is left of the first but its gradient: weight, state, that
  // gradient and the new one; what goes into and comes out of blocks.0 and a gradient of that, of 4 samples.
  EXPECT_EQ(After({{"shard", "pp:2:2"}}).peak.bytes, 4 * kWeightBytes + 3 * kBatchBytes / 2);
}

// A stage of so many, and its batch in so many parts.
class Parts {
 public:
  Parts(uint32_t stages, uint32_t parts)
      : step_(ShardLever().Rewrite(TheLoop().Read(), "pp:2")->value()), scene_(MakeScene(step_)) {
    scene_.pipeline_stages = stages;
    scene_.pipeline_parts = parts;
    RunInPipeline(step_, scene_);
    for (const Block& block : scene_.blocks) {
      const bool batch =
          block.origin != model::kNone && step_.blocks[block.origin].category == classify::Category::kInput;
      if (batch && block.bytes > 0) batches_.push_back(block);
    }
    std::sort(batches_.begin(), batches_.end(),
              [](const Block& a, const Block& b) { return a.begin < b.begin; });
  }
  // By part: autograd keeps it until its backward.
  [[nodiscard]] const std::vector<Block>& batches() const { return batches_; }
  [[nodiscard]] const Scene& scene() const { return scene_; }
  [[nodiscard]] int64_t WaitingAt(Position at) const {
    return std::count_if(batches_.begin(), batches_.end(),
                         [at](const Block& one) { return one.begin <= at && at < one.end; });
  }

 private:
  const whatif::Step step_;
  Scene scene_;
  std::vector<Block> batches_;
};

// F0 F1 B0 F2 B1 F3 B2 B3: each part goes forward when the one before the last has gone backward, and what
// autograd keeps of it stays until its own backward.
TEST(PipelineTest, OnePartGoesForwardForEachThatGoesBackward) {
  const Parts four(2, 4);
  const std::vector<Block>& parts = four.batches();
  ASSERT_EQ(parts.size(), 4u);
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    EXPECT_GT(parts[i].end, parts[i + 1].begin) << "part " << i << " waits while the next goes forward";
    if (i + 2 < parts.size()) {
      EXPECT_LT(parts[i].end, parts[i + 2].begin) << "part " << i;
    }
  }
  EXPECT_GT(four.scene().backward.front().begin, parts[1].begin);
}

// At most four parts are written out. Of eight in four stages four wait at the begin of most backward passes,
// behind the first one with a gradient beside them.
TEST(PipelineTest, AsManyPartsWaitAsThereAreStages) {
  const auto at_second_backward = [](uint32_t stages, uint32_t parts) {
    const Parts some(stages, parts);
    Position first = kForever;  // the end of the first part's backward
    for (const Block& one : some.batches()) first = std::min(first, one.end);
    Position next = kForever;
    for (const Block& one : some.batches())
      if (one.end > first) next = std::min(next, one.end);
    return some.WaitingAt(next - 1);
  };
  EXPECT_EQ(at_second_backward(2, 8), 2);
  EXPECT_EQ(at_second_backward(3, 8), 3);
  EXPECT_EQ(at_second_backward(4, 8), 4);
  EXPECT_EQ(at_second_backward(6, 8), 6);
  EXPECT_EQ(at_second_backward(4, 4), 3) << "F0 F1 F2 F3 B0 B1";
}

TEST(PipelineTest, TheBatchIsInPartsOnce) {
  const whatif::Step step = TheLoop().Read();
  const Baseline baseline = MakeBaseline(step, *TheLoop().analysis).value();
  const Changed changed = Predictor(step, baseline).Change({{"shard", "pp:2:2"}, {"accumulate", "2"}});
  ASSERT_EQ(changed.refused.size(), 1u);
  EXPECT_THAT(changed.refused[0].reason, HasSubstr("say more of them"));
}

TEST(PipelineTest, WhatCannotBeSharedOutIsRefused) {
  EXPECT_THAT(Refusal("pp:3"), HasSubstr("too few for 3 stages"));
  EXPECT_THAT(Refusal("pp:2:0"), HasSubstr("pp:4:8"));
  EXPECT_THAT(Refusal("pp:2:x"), HasSubstr("pp:4:8"));
  const whatif::Step step = TheLoop().Read();
  Scene scene = MakeScene(step);
  EXPECT_THAT(ShardLever().Apply(step, "pp:2:3", scene).error().sentence, HasSubstr("no 3 equal parts"));
}

// self.register_buffer("bias", ...), which attention without a mask of its own never looks at.
TEST(PipelineTest, WhatNoOperatorWorksOnGoesWithItsModule) {
  const auto left = [](const char* name) {
    whatif::Step step = TheLoop().Read();
    const auto buffer = static_cast<uint32_t>(step.blocks.size());
    StepBlock& block = step.blocks.emplace_back();
    block.category = classify::Category::kBuffer, block.requested = 512, block.name = name;
    block.begin = kBefore;
    return ShardLever().Rewrite(step, "pp:2")->value().blocks[buffer].requested;
  };
  EXPECT_EQ(left("blocks.0.bias"), 512u);
  EXPECT_EQ(left("blocks.1.bias"), 0u);
  EXPECT_EQ(left("blocks.1.attention.bias"), 0u) << "of a module that is not called, with the one around it";
  EXPECT_EQ(left("head.bias"), 512u) << "of none that is called";
  EXPECT_EQ(left("bias"), 512u);
}

// The head has a bias with as many elements as what the stage sends.
TEST(PipelineTest, AGradientOfAParameterIsNotTheOneThatIsReceived) {
  whatif::Step step = TheLoop().Read();
  const auto between = std::find_if(step.ops.begin(), step.ops.end(),
                                    [&](const Op& op) { return step.NameOf(op) == "aten::gelu_backward"; });
  ASSERT_TRUE(between != step.ops.end());
  const uint32_t of_bias = OutputsOf(step, *between)[0].block;
  const auto received = static_cast<uint32_t>(step.blocks.size());
  step.blocks.push_back(step.blocks[of_bias]);
  step.blocks[of_bias].accumulated = step.blocks[of_bias].begin + 0.5;
  const whatif::Step stage = ShardLever().Rewrite(step, "pp:2")->value();
  EXPECT_NEAR(stage.blocks[received].begin, step.backward.front().begin, 0.01);
  EXPECT_GT(stage.blocks[received].end, step.blocks[received].end) << "until backward() returns";
  EXPECT_EQ(stage.blocks[of_bias].begin, step.blocks[of_bias].begin);
  EXPECT_EQ(stage.blocks[of_bias].end, step.blocks[of_bias].end);
}

}  // namespace
}  // namespace vramscope::whatif
