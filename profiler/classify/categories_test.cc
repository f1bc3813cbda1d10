// SPDX-License-Identifier: Apache-2.0
// Oracle: loops written in PyTorch's order of operations. The test knows what each block is.
#include "profiler/classify/categories.h"

#include <gtest/gtest.h>

#include "profiler/classify/analysis.h"
#include "profiler/model/testing/script.h"

namespace vramscope::classify {
namespace {

using model::BlockId;
using model::testing::Script;
using trace::LabelSource;
using trace::Role;

// "activation > temporary_backward": the categories of a block during its life.
std::string Story(const Analysis& analysis, BlockId block) {
  std::string story;
  for (const Stretch& stretch : analysis.categories().Of(block)) {
    if (!story.empty()) story += " > ";
    story += Info(stretch.category).key;
  }
  return story;
}

// A script and its analysis.
struct Judged {
  explicit Judged(const Script& script) : s(script), run(script.Load()), analysis(run) {}
  std::string operator()(const std::string& block, size_t occurrence = 0) const {
    return Story(analysis, s.Id(block, occurrence));
  }
  Proof ProofOf(const std::string& block) const { return analysis.categories().Of(s.Id(block))[0].proof; }

  const Script& s;
  model::Run run;
  Analysis analysis;
};

// Two layers, momentum, three steps. `labels`: with the labels of the Python shim.
void TrainThreeSteps(Script& s, bool labels) {
  s.Alloc("init", 8).Free("init");
  s.Alloc("weight", 400).Alloc("mean", 40);
  for (int step = 1; step <= 3; ++step) {
    s.Data([&] { s.Alloc("batch", 64); });
    s.Alloc("scaled", 64);
    s.Alloc("shuffle", 16).Free("shuffle");
    s.Saved("scaled").Alloc("hidden", 128).SavedOutput("hidden").Saved("weight");
    s.Alloc("mask", 32).Free("mask");
    s.Alloc("loss", 4);
    s.Backward([&] {
      s.Alloc("grad_out", 128).Released("hidden").Free("hidden");
      s.Alloc("grad", 400).Gradient("grad", "weight").Free("grad_out");
      s.Released("scaled").Released("weight");
    });
    s.Alloc("norm", 4).Free("norm");
    s.Optimizer("SGD", [&] {
      if (step == 1) s.Alloc("momentum", 400);
      s.Alloc("scratch", 400).Free("scratch");
    });
    if (labels && step == 1) {
      s.Parameter("weight", "fc.weight");
      s.Label("mean", Role::kBuffer, LabelSource::kModuleRegistry, "norm.mean");
      s.Label("momentum", Role::kOptimizerState, LabelSource::kOptimizer, "momentum_buffer of fc.weight");
    }
    s.Free("grad").Free("loss").Free("scaled").Free("batch");
  }
}

TEST(CategoriesTest, APlainLoopIsToldApartByLabelsAndPhases) {
  Script s;
  TrainThreeSteps(s, true);
  const Judged judged(s);
  EXPECT_EQ(judged("weight"), "parameter");
  EXPECT_EQ(judged("mean"), "buffer");
  EXPECT_EQ(judged("momentum"), "optimizer_state");
  EXPECT_EQ(judged("batch"), "input");
  EXPECT_EQ(judged("scaled"), "input");
  EXPECT_EQ(judged("shuffle"), "unattributed");
  EXPECT_EQ(judged("hidden"), "activation > temporary_forward");
  EXPECT_EQ(judged("mask"), "temporary_forward");
  EXPECT_EQ(judged("grad_out"), "temporary_backward");
  EXPECT_EQ(judged("grad"), "temporary_backward > gradient");
  EXPECT_EQ(judged("norm"), "temporary_optimizer");
  EXPECT_EQ(judged("scratch"), "temporary_optimizer");
  EXPECT_EQ(judged("init"), "unattributed");
  EXPECT_EQ(judged.ProofOf("init"), Proof::kBornBeforeFirstStep);
  EXPECT_EQ(judged.ProofOf("weight"), Proof::kAccumulateGrad) << "the first label that said so";
  EXPECT_EQ(judged.ProofOf("scaled"), Proof::kPreparedAndSaved);
  EXPECT_EQ(judged.ProofOf("norm"), Proof::kBornInUpdate);
}

TEST(CategoriesTest, ALabelSpeaksForTheTimeBeforeItToo) {
  Script s;
  TrainThreeSteps(s, true);
  const Judged judged(s);
  const BlockId weight = s.Id("weight");
  EXPECT_EQ(judged.analysis.categories().At(weight, judged.run.blocks[weight].alloc_event).category,
            Category::kParameter);
}

TEST(CategoriesTest, WithoutNamesTheSameBytesAreFound) {
  Script s;
  TrainThreeSteps(s, false);
  const Judged judged(s);
  EXPECT_EQ(judged("weight"), "parameter");
  EXPECT_EQ(judged("momentum"), "optimizer_state");
  EXPECT_EQ(judged.ProofOf("momentum"), Proof::kOutlivedNextStep);
  EXPECT_EQ(judged("grad"), "temporary_backward > gradient");
  EXPECT_EQ(judged("mean"), "unattributed") << "nothing told of this buffer";
}

TEST(CategoriesTest, AnOptimizersTemporaryThatLivesIntoTheNextStepIsNoState) {
  Script s;
  for (int step = 1; step <= 3; ++step) {
    s.Alloc("x", 8).Saved("x");
    s.Backward([&] { s.Released("x").Free("x"); });
    s.Optimizer("LBFGS", [&] {
      if (step > 1) s.Free("previous");
      s.Alloc("previous", 40);
    });
  }
  EXPECT_EQ(Judged(s)("previous", 1), "temporary_optimizer");
}

TEST(CategoriesTest, AccumulatedGradientsStayGradientsThroughTheMicroBatches) {
  Script s;
  s.Alloc("weight", 400).Parameter("weight", "w");
  for (int micro = 0; micro < 4; ++micro) {
    s.Alloc("hidden", 128).SavedOutput("hidden");
    s.Backward([&] {
      s.Released("hidden").Free("hidden").Alloc("fresh", 400);
      if (micro == 0) s.Alloc("grad", 400);
      s.Gradient("grad", "weight").Free("fresh");
    });
  }
  s.Optimizer("SGD", [] {});
  const Judged judged(s);
  EXPECT_EQ(judged("grad"), "temporary_backward > gradient");
  EXPECT_EQ(judged("fresh", 3), "temporary_backward");
  EXPECT_EQ(judged("hidden", 4), "activation > temporary_forward");
}

TEST(CategoriesTest, EvaluationLeavesTemporariesAndItsBatchesAreInputs) {
  Script s;
  for (int step = 1; step <= 2; ++step) {
    s.Data([&] { s.Alloc("test_batch", 64); });
    s.Alloc("logits", 80).Free("logits").Free("test_batch");
    s.Data([&] { s.Alloc("batch", 64); });
    s.Alloc("hidden", 128).SavedOutput("hidden");
    s.Backward([&] { s.Released("hidden").Free("hidden"); });
    s.Optimizer("SGD", [] {});
    s.Free("batch");
  }
  const Judged judged(s);
  EXPECT_EQ(judged("logits", 2), "temporary_forward");
  EXPECT_EQ(judged("test_batch", 2), "input");
  EXPECT_EQ(judged("hidden", 2), "activation > temporary_forward");
}

TEST(CategoriesTest, ActivationsOfAClosureAreFoundInsideTheOptimizersStep) {
  Script s;
  s.Alloc("data", 64);
  for (int step = 1; step <= 2; ++step) {
    s.Optimizer("LBFGS", [&] {
      s.Alloc("direction", 40);
      s.Saved("data").Alloc("hidden", 128).SavedOutput("hidden").Alloc("mask", 8).Free("mask");
      s.Backward([&] { s.Alloc("gout", 8).Released("hidden").Free("hidden").Released("data").Free("gout"); });
      s.Free("direction");
    });
  }
  const Judged judged(s);
  EXPECT_EQ(judged("hidden"), "activation > temporary_forward");
  EXPECT_EQ(judged("mask"), "temporary_forward");
  EXPECT_EQ(judged("gout"), "temporary_backward");
  EXPECT_EQ(judged("direction"), "temporary_optimizer");
  EXPECT_EQ(judged("data"), "input");
  EXPECT_EQ(judged.ProofOf("data"), Proof::kSetUpAndSaved);
}

TEST(CategoriesTest, WhatCheckpointingRecomputesInBackwardIsActivationWhileItIsKept) {
  Script s;
  s.Alloc("hidden", 128).SavedOutput("hidden").Released("hidden").Free("hidden");
  s.Backward([&] {
    s.Alloc("again", 128).SavedOutput("again").Alloc("g", 8).Released("again").Free("g").Free("again");
  });
  s.Optimizer("SGD", [] {});
  EXPECT_EQ(Judged(s)("again"), "activation > temporary_backward");
}

TEST(CategoriesTest, TheStrongerOfTwoRolesWins) {
  Script s;
  s.Alloc("tied", 8).Label("tied", Role::kBuffer, LabelSource::kModuleRegistry, "b");
  s.Label("tied", Role::kInput, LabelSource::kDataLoader).Parameter("tied", "w").Saved("tied");
  s.Alloc("bucket", 8).Label("bucket", Role::kCommunication, LabelSource::kModuleRegistry);
  s.Label("bucket", Role::kGradient, LabelSource::kAccumulateGrad);
  s.Alloc("batch", 8).Label("batch", Role::kInput, LabelSource::kDataLoader).Saved("batch").Released("batch");
  s.Alloc("compiled", 8).Label("compiled", Role::kBuffer, LabelSource::kModuleRegistry, "graph");
  s.Label("compiled", Role::kOptimizerState, LabelSource::kOptimizer, "exp_avg of w");
  const Judged judged(s);
  EXPECT_EQ(judged("tied"), "parameter");
  EXPECT_EQ(judged("compiled"), "optimizer_state");
  EXPECT_EQ(judged("bucket"), "gradient") << "a bucket that gradients lie in";
  EXPECT_EQ(judged("batch"), "input");
}

TEST(CategoriesTest, AGradientLabelEndsAnActivationThatIsStillSaved) {
  Script s;
  s.Alloc("x", 8).SavedOutput("x").Label("x", Role::kGradient, LabelSource::kAccumulateGrad).Released("x");
  EXPECT_EQ(Judged(s)("x"), "activation > gradient");
}

// Three steps in which backward runs through a detached copy of `hidden`, as in a checkpoint. `name` is the
// name of the weight.
void TrainThroughALeaf(Script& s, const std::string& name) {
  s.Alloc("weight", 400);
  if (!name.empty()) s.Parameter("weight", name);
  for (int step = 1; step <= 3; ++step) {
    s.Alloc("hidden", 128).SavedOutput("hidden").Alloc("gathered", 400);
    if (!name.empty()) s.Label("gathered", Role::kParameter, LabelSource::kAccumulateGrad, "", 77);
    s.Backward([&] {
      s.Label("hidden", Role::kParameter, LabelSource::kAccumulateGrad, "", 55).Alloc("hidden_grad", 128);
      s.Label("hidden", Role::kParameter, LabelSource::kAccumulateGrad, "", 55);
      s.Label("hidden_grad", Role::kGradient, LabelSource::kAccumulateGrad, "", 56);
      s.Alloc("grad", 400).Gradient("grad", "weight");
      s.Free("hidden_grad").Released("hidden").Free("hidden").Free("gathered");
    });
    s.Optimizer("SGD", [&] { s.Alloc("scratch", 4).Free("scratch"); });
    s.Free("grad");
  }
}

TEST(CategoriesTest, ALeafMadeOnTheWayIsNoParameter) {
  for (const std::string name : {"", "w"}) {
    Script s;
    TrainThroughALeaf(s, name);
    const Judged judged(s);
    for (size_t step = 1; step <= 3; ++step) {
      EXPECT_EQ(judged("hidden", step), "activation > temporary_forward") << name << step;
      EXPECT_EQ(judged("hidden_grad", step), "temporary_backward") << name << step;
      EXPECT_EQ(judged("grad", step), "temporary_backward > gradient") << name << step;
    }
    EXPECT_EQ(judged("weight"), "parameter") << name;
  }
}

TEST(CategoriesTest, ALeafThatAModuleNamesIsAParameterHoweverShortItsMemoryLives) {
  Script s;
  s.Alloc("shard", 100).Label("shard", Role::kParameter, LabelSource::kModuleRegistry, "flat", 77);
  TrainThroughALeaf(s, "w");
  const Judged judged(s);
  for (size_t step = 1; step <= 3; ++step) EXPECT_EQ(judged("gathered", step), "parameter") << step;
}

// Three steps that copy gradients to a bucket and reduce them there. `view`: the gradients are views of it.
void TrainWithABucket(Script& s, bool view) {
  s.Alloc("weight", 400).Parameter("weight", "fc.weight").Alloc("bucket", 400);
  s.Label("bucket", Role::kCommunication, LabelSource::kDataParallel, "bucket");
  for (int step = 1; step <= 3; ++step) {
    s.Alloc("hidden", 128).SavedOutput("hidden");
    s.Backward([&] {
      s.Alloc("grad", 400).Gradient("grad", "weight").Released("hidden").Free("hidden");
      if (view) s.Free("grad");
      s.Label("bucket", Role::kCommunication, LabelSource::kCollective, "all-reduce");
    });
    if (view) s.Label("bucket", Role::kGradient, LabelSource::kOptimizer, "fc.weight", 7);
    s.Optimizer("SGD", [&] { s.Alloc("scratch", 4).Free("scratch"); });
    if (!view) s.Free("grad");
  }
}

TEST(CategoriesTest, ABucketIsCommunication) {
  Script s;
  TrainWithABucket(s, false);
  const Judged judged(s);
  EXPECT_EQ(judged("bucket"), "communication");
  EXPECT_EQ(judged.ProofOf("bucket"), Proof::kDataParallel);
  EXPECT_EQ(judged("grad"), "temporary_backward > gradient");
}

TEST(CategoriesTest, ABucketThatGradientsLieInIsGradients) {
  Script s;
  TrainWithABucket(s, true);
  EXPECT_EQ(Judged(s)("bucket"), "gradient");
}

TEST(CategoriesTest, AGatheredParameterIsCommunicationWhoeverGatheredIt) {
  for (const LabelSource source : {LabelSource::kDataParallel, LabelSource::kCollective}) {
    Script s;
    s.Alloc("shard", 100).Label("shard", Role::kParameter, LabelSource::kModuleRegistry, "flat", 77);
    for (int step = 1; step <= 3; ++step) {
      s.Alloc("hidden", 128).SavedOutput("hidden");
      s.Alloc("gathered", 400).Label("gathered", Role::kCommunication, source, "all-gather", 77);
      s.Label("gathered", Role::kParameter, LabelSource::kAccumulateGrad, "", 77).Saved("gathered");
      s.Backward([&] {
        s.Alloc("grad", 400).Label("gathered", Role::kParameter, LabelSource::kAccumulateGrad, "", 77);
        s.Label("grad", Role::kGradient, LabelSource::kAccumulateGrad, "", 5);
        s.Released("hidden").Free("hidden").Released("gathered").Free("gathered").Alloc("reduced", 100);
        s.Label("grad", Role::kCommunication, LabelSource::kCollective, "reduce-scatter").Free("grad");
        s.Label("reduced", Role::kCommunication, LabelSource::kCollective, "reduce-scatter");
      });
      s.Label("reduced", Role::kGradient, LabelSource::kOptimizer, "flat", 77);
      s.Optimizer("SGD", [&] { s.Alloc("scratch", 4).Free("scratch"); });
      s.Free("reduced");
    }
    const Judged judged(s);
    for (size_t step = 1; step <= 3; ++step) {
      EXPECT_EQ(judged("gathered", step), "communication") << step;
      EXPECT_EQ(judged("grad", step), "temporary_backward > gradient") << step;
      EXPECT_EQ(judged("reduced", step), "gradient") << step;
    }
    EXPECT_EQ(judged("shard"), "parameter");
  }
}

TEST(CategoriesTest, WhatTheProgramCommunicatesStaysWhatItIs) {
  Script s;
  const auto communicated = [&](const char* block) {
    s.Label(block, Role::kCommunication, LabelSource::kCollective, "all-reduce");
  };
  s.Alloc("weight", 400).Parameter("weight", "fc.weight");
  communicated("weight");
  s.Label("weight", Role::kGradient, LabelSource::kOptimizer, "fc.weight", 9);  // both lie in one flat buffer
  for (int step = 1; step <= 3; ++step) {
    s.Alloc("hidden", 128);
    communicated("hidden");
    s.SavedOutput("hidden").Alloc("counts", 16);
    communicated("counts");
    s.Free("counts");
    s.Backward([&] { s.Alloc("grad", 400).Gradient("grad", "weight").Released("hidden").Free("hidden"); });
    communicated("grad");
    s.Optimizer("SGD", [&] { s.Alloc("scratch", 4).Free("scratch"); });
    s.Free("grad");
  }
  const Judged judged(s);
  EXPECT_EQ(judged("weight"), "parameter");
  EXPECT_EQ(judged("hidden", 1), "activation > temporary_forward");
  EXPECT_EQ(judged("counts", 1), "communication");
  EXPECT_EQ(judged("grad", 1), "temporary_backward > gradient");
}

TEST(CategoriesTest, ALeafThatNeverGetsAGradientWhileOthersDoIsNoParameter) {
  Script s;
  s.Alloc("still_input", 64).Label("still_input", Role::kParameter, LabelSource::kAccumulateGrad, "", 33);
  s.Saved("still_input");
  TrainThroughALeaf(s, "");
  const Judged judged(s);
  EXPECT_EQ(judged("still_input"), "input");
  EXPECT_EQ(judged("weight"), "parameter");
}

TEST(CategoriesTest, ALeafThatBackwardHasNotReachedYetIsAParameter) {
  Script s;
  s.Alloc("first", 64).Alloc("last", 64).Alloc("hidden", 8).Saved("hidden");
  s.Backward([&] {  // the run ends during this backward pass
    s.Label("first", Role::kParameter, LabelSource::kAccumulateGrad, "", 33);
    s.Alloc("grad", 64).Gradient("grad", "last");
  });
  EXPECT_EQ(Judged(s)("first"), "parameter");
}

TEST(CategoriesTest, WithoutAnyTrainingNothingIsGuessed) {
  Script s;
  s.Alloc("a", 8).Alloc("w", 8).Label("w", Role::kParameter, LabelSource::kModuleRegistry, "w");
  const Judged judged(s);
  EXPECT_EQ(judged("a"), "unattributed");
  EXPECT_EQ(judged("w"), "parameter");
}

TEST(CategoriesTest, ProcessesHaveStepsOfTheirOwn) {
  Script s;
  for (int step = 1; step <= 3; ++step) {
    for (const uint32_t pid : {100, 200}) {
      const std::string rank = std::to_string(pid);
      s.Process(pid).Alloc("hidden" + rank, 128).SavedOutput("hidden" + rank);
    }
    for (const uint32_t pid : {100, 200}) {
      const std::string rank = std::to_string(pid);
      s.Process(pid).Backward(
          [&] { s.Released("hidden" + rank).Free("hidden" + rank).Alloc("tmp" + rank, 8); });
      s.Optimizer("SGD", [&] {
        if (step == 1) s.Alloc("state" + rank, 16);
      });
      s.Free("tmp" + rank);
    }
  }
  const Judged judged(s);
  for (const char* rank : {"100", "200"}) {
    EXPECT_EQ(judged(std::string("hidden") + rank), "activation > temporary_forward");
    EXPECT_EQ(judged(std::string("tmp") + rank), "temporary_backward");
    EXPECT_EQ(judged(std::string("state") + rank), "optimizer_state");
  }
}

}  // namespace
}  // namespace vramscope::classify
