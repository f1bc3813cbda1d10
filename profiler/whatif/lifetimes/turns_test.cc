// SPDX-License-Identifier: Apache-2.0
// Networks that are trained in turns with one optimizer each, as in a GAN: the judge twice, then the maker on
// the judge's output. Oracle: bytes computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/step/forward_parts.h"
#include "profiler/whatif/testing/loop.h"
#include "profiler/whatif/training/trained.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// `steps_seen`: PyTorch's operators step the parameters, not those of a library.
class Adversaries : public TensorScript {
 public:
  explicit Adversaries(bool steps_seen = true) : steps_seen_(steps_seen) {
    s.Device(model::testing::kCuda0).TotalsAre(0, 4 << 20);
    for (const char* name : {"judge", "maker"})
      s.Alloc(name, kWeightBytes).Parameter(name, std::string(name) + ".weight");
    for (uint64_t turn = 1; turn <= 3; ++turn) {
      if (turn == 2) s.Mark(trace::MarkKind::kDeepBegin, 2);
      Turn("judge", 10 * turn, turn == 1);
      Turn("judge", 10 * turn + 2, false);
      Turn("maker", 10 * turn + 4, turn == 1);
    }
    run = s.Load();
    analysis.emplace(run);
    step = ReadStep(*analysis, 0).value();
  }

  [[nodiscard]] BlockIndex Block(const char* name) const {
    for (const BlockIndex i : step.blocks.Indices())
      if (step.blocks[i].id == s.Id(name)) return i;
    return {};
  }
  [[nodiscard]] Prediction Asked(const char* lever, const char* value) const {
    return Predict(step, MakeBaseline(step, *analysis).value(), {{lever, value}}).value();
  }

  model::Run run;
  std::optional<classify::Analysis> analysis;
  whatif::Step step;

 private:
  void Turn(const std::string& network, uint64_t node, bool first) {
    s.Data([&] { s.Alloc("batch", kBatchBytes); });
    s.Label("batch", trace::Role::kInput, trace::LabelSource::kDataLoader);
    s.Module(network, [&] { Multiply(network, "said", node); });
    s.Module(network, [&] { Multiply(network, "once more", 0); });  // without gradients
    s.Backward([&] {
      s.Alloc("seed", kBatchBytes);
      s.Node("MmBackward0", node, [&] {
        s.Op("MmBackward0", [&] {
          In("seed", "8,64", "64,1");
          s.Op("aten::mm", [&] {
            In("batch", "64,8", "1,64");
            In("seed", "8,64", "64,1", 1);
            s.Alloc("gradient", kWeightBytes);
            Out("gradient", "64,64", "64,1");
          });
        });
        s.Released("batch").Released(network);
      });
      s.Free("seed");
      s.Node("torch::autograd::AccumulateGrad", trace::node::kNoSequence,
             [&] { s.Gradient("gradient", network); });
    });
    s.Free("said").Free("once more").Free("batch");
    const std::string state = "state of " + network;
    s.Optimizer(
        "Adam", [&] { StepOf(network, first); }, network == "judge" ? 1 : 2);
    s.Range(trace::RangeKind::kZeroGrad, "", 0, [&] { s.Free("gradient"); });
  }

  void Multiply(const std::string& network, const std::string& result, uint64_t node) {
    s.Op("aten::mm", [&] {
      if (node != 0) s.NodeCreated(node).Saved("batch").Saved(network);
      In("batch", "8,64", "64,1");
      In(network, "64,64", "1,64", 1);
      s.Alloc(result, kBatchBytes);
      Out(result, "8,64", "64,1");
    });
  }

  void StepOf(const std::string& network, bool first) {
    const std::string state = "state of " + network;
    if (first)
      s.Alloc(state, kWeightBytes)
          .Label(state, trace::Role::kOptimizerState, trace::LabelSource::kOptimizer,
                 "exp_avg of " + network + ".weight");
    s.Op(steps_seen_ ? "aten::_foreach_add_" : "apex::step", [&] {
      if (steps_seen_) In(network, "64,64", "64,1");
      s.Alloc("root", kWeightBytes);
      if (steps_seen_) Out("root", "64,64", "64,1");
    });
    s.Free("root");
  }

  bool steps_seen_;
};

TEST(TurnsTest, EachOptimizerStepsItsOwnParametersAndMakesTheirStateOnce) {
  const Adversaries gan;
  ASSERT_EQ(gan.step.optimizer.size(), 3u);
  const std::vector<OptimizerCall> calls = OptimizerCalls(gan.step, gan.step.optimizer).value();
  const auto blocks = [](const std::vector<TrainedParameter>& parameters) {
    std::vector<uint32_t> found;
    for (const TrainedParameter& parameter : parameters) found.push_back(parameter.block);
    return found;
  };
  const uint32_t judge = gan.Block("judge"), maker = gan.Block("maker");
  EXPECT_THAT(blocks(calls[0].stepped), ElementsAre(judge));
  EXPECT_THAT(blocks(calls[0].fresh), ElementsAre(judge));
  EXPECT_THAT(blocks(calls[1].stepped), ElementsAre(judge));
  EXPECT_TRUE(calls[1].fresh.empty());
  EXPECT_THAT(blocks(calls[2].stepped), ElementsAre(maker));
  EXPECT_THAT(blocks(calls[2].fresh), ElementsAre(maker));
  EXPECT_EQ(CountOptimizers(calls), 2u);
}

TEST(TurnsTest, AnotherOptimizerStandsInThePlaceOfEach) {
  const Adversaries gan;
  Scene scene = MakeScene(gan.step);
  const Outcome outcome = OptimizerLever().Apply(gan.step, "adamw", scene).value();
  EXPECT_THAT(outcome.notes, Contains(HasSubstr("2 optimizers")));
  std::vector<size_t> state(3), roots(3);
  for (const Block& block : scene.blocks) {
    for (size_t i = 0; i < scene.optimizer.size(); ++i) {
      if (!Within({&scene.optimizer[i], 1}, block.begin)) continue;
      state[i] += block.category == Category::kOptimizerState;
      roots[i] += block.category == Category::kTemporaryOptimizer;
      EXPECT_EQ(block.bytes, kWeightBytes);
    }
  }
  EXPECT_THAT(state, ElementsAre(2u, 0u, 2u));
  EXPECT_THAT(roots, ElementsAre(1u, 1u, 1u));
  // Two weights, four states; gradient and square root of one network.
  EXPECT_EQ(gan.Asked("optimizer", "adamw").after.peak.bytes, 8 * kWeightBytes);
}

TEST(TurnsTest, OnTheHostNoneOfTheOptimizersTakesAnythingOfTheDevice) {
  const Adversaries gan;
  const Prediction there = gan.Asked("offload", "optimizer");
  ASSERT_TRUE(there.refused.empty()) << there.refused.front().reason;
  // Two weights and a gradient; the batch, the results of two calls, and the gradient of one.
  EXPECT_EQ(there.after.peak.bytes, 3 * kWeightBytes + 4 * kBatchBytes);
  EXPECT_THAT(there.levers.front().outcome.notes, Contains(HasSubstr("2 optimizers")));
}

TEST(TurnsTest, OptimizersOfALibrarysOwnAreNotGuessedApart) {
  const Adversaries gan(false);
  for (const auto& [lever, value] : {std::pair{"optimizer", "sgd"}, std::pair{"offload", "optimizer"}}) {
    const Prediction refused = gan.Asked(lever, value);
    ASSERT_EQ(refused.refused.size(), 1u);
    EXPECT_THAT(refused.refused.front().reason, HasSubstr("the parameters that it updates are not known"));
  }
  EXPECT_TRUE(OptimizerLever().Settings(gan.step).empty());
}

TEST(TurnsTest, EachBackwardPassHasAPartOfForwardBehindWhatWasBeforeIt) {
  const Adversaries gan;
  const std::vector<Window> parts = ForwardParts(gan.step);
  ASSERT_EQ(parts.size(), 3u);
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].end, gan.step.backward[i].begin);
    EXPECT_EQ(parts[i].begin, gan.step.zero_grad[i].end);  // the first one belongs to the previous step
  }
}

TEST(TurnsTest, EachPassIsRepeatedBeforeItsOptimizerSteps) {
  const Adversaries gan;
  const Scene plain = MakeScene(gan.step);
  Scene scene = plain;
  const Outcome outcome = AccumulateLever().Apply(gan.step, "4:whole", scene).value();
  EXPECT_THAT(outcome.notes, ElementsAre(HasSubstr("3 optimizer steps")));
  int64_t longer = 0;
  for (size_t i = 0; i < 3; ++i) {
    longer += 3 * (plain.backward[i].end.event - plain.forward[i].begin.event);
    EXPECT_EQ(scene.optimizer[i].begin, plain.optimizer[i].begin + longer);
    EXPECT_EQ(scene.backward[i].end, plain.backward[i].end + longer);
  }
  EXPECT_EQ(scene.length, plain.length + longer);
  std::vector<size_t> batches(3), kept(3);
  for (const Block& block : scene.blocks) {
    for (size_t i = 0; i < 3; ++i) {
      if (block.begin < scene.forward[i].begin || block.begin >= scene.backward[i].end) continue;
      batches[i] += block.category == Category::kInput && block.bytes == kBatchBytes;
      kept[i] += block.category == Category::kGradient && block.end > scene.optimizer[i].end;
    }
  }
  EXPECT_THAT(batches, ElementsAre(4u, 4u, 4u));
  EXPECT_THAT(kept, ElementsAre(1u, 1u, 1u));
}

TEST(TurnsTest, PassesForOneOptimizerStepAreRepeatedTogether) {
  const Adversaries gan;
  whatif::Step step = gan.step;
  step.optimizer.erase(step.optimizer.begin());  // the judge steps once for two passes
  const Scene plain = MakeScene(step);
  Scene scene = plain;
  ASSERT_TRUE(AccumulateLever().Apply(step, "2:whole", scene).ok());
  EXPECT_EQ(scene.optimizer[0].begin,
            plain.optimizer[0].begin + plain.backward[1].end.event - plain.forward[0].begin.event);
}

TEST(TurnsTest, WhatIsNeededBeyondAnOptimizerStepIsNotRepeated) {
  const Adversaries gan;
  const auto refusal = [](const whatif::Step& step) {
    Scene scene = MakeScene(step);
    const Result<Outcome> outcome = AccumulateLever().Apply(step, "2:whole", scene);
    return outcome.ok() ? "" : outcome.error().sentence;
  };
  whatif::Step step = gan.step;
  step.nodes.front().begin = step.backward[2].begin + 1;  // of the first turn's forward
  EXPECT_THAT(refusal(step), HasSubstr("from before another optimizer step"));
  step = gan.step;
  step.optimizer.pop_back();
  EXPECT_THAT(refusal(step), HasSubstr("no backward pass with an optimizer step after it"));
}

}  // namespace
}  // namespace vramscope::whatif
