// SPDX-License-Identifier: Apache-2.0
// Oracle: bytes of changed versions of a small loop, computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"
#include "profiler/timeline/curve.h"
#include "profiler/whatif/answer/nested_tensors.h"
#include "profiler/whatif/answer/predict.h"
#include "profiler/whatif/step/reduction.h"
#include "profiler/whatif/step/segments.h"
#include "profiler/whatif/testing/loop.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::testing::Script;

TEST(WhatifTest, WithoutAChangeThePeakIsTheRecordedOne) {
  // During the optimizer step: weight, state, gradient, the optimizer's temporary; the batch, and the model's
  // result.
  EXPECT_EQ(UseAfter({}).peak.bytes, 4 * kWeightBytes + 2 * kBatchBytes);
  EXPECT_EQ(UseAfter({}).peak.phase, "optimizer");
  EXPECT_EQ(UseAfter({}).peak.bytes, timeline::DeviceCurve(TheLoop().run, 0).peak().bytes);
}

TEST(WhatifTest, WhatIsGoneBeforeTheLoopLeavesAHoleAndTakesNothing) {
  const Scene scene = MakeScene(TheLoop().Read());
  const auto gone = std::count_if(scene.blocks.begin(), scene.blocks.end(),
                                  [](const Block& block) { return block.Passes(); });
  EXPECT_EQ(gone, 1);
  EXPECT_LT(PeakOf(scene).bytes, 8 * kWeightBytes);
}

// A remainder too small to split off stays in the block. A changed program would not request it.
TEST(WhatifTest, ABlockIsAsLargeAsItWasAskedFor) {
  Script script;
  script.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20).Mark(trace::MarkKind::kDeepBegin, 1);
  for (int call = 1; call <= 3; ++call) {
    script.Module("", [&] {
      script.Op("aten::empty", [&] { script.Alloc("workspace", 4'464'640, 4'210'688); });
      script.Op("aten::empty", [&] { script.Alloc("untold", 4096); });
    });
    script.Free("workspace").Free("untold");
  }
  const model::Run run = script.Load();
  const classify::Analysis analysis(run);
  const whatif::Step step = ReadStep(analysis, 0).value();
  std::vector<uint64_t> requested;
  for (const StepBlock& block : step.blocks)
    if (block.begin != kBefore) requested.push_back(block.requested);
  EXPECT_THAT(requested, testing::ElementsAre(4'210'688, 4096));
}

// A program with torch.nested.nested_tensor(..., layout=torch.jagged).
TEST(WhatifTest, OfNestedTensorsOnlyWhatChangesNoneOfThemIsPredicted) {
  Step step = TheLoop().Read();
  EXPECT_FALSE(HasNestedTensors(step));
  step.own_texts =
      std::make_shared<std::deque<std::string>>(std::deque<std::string>{"aten::_nested_get_values"});
  step.ops[0].name = Step::kFirstOwnText;
  EXPECT_TRUE(HasNestedTensors(step));
  for (const auto& [lever, value] : {std::pair("checkpoint", "all"), std::pair("accumulate", "2:whole"),
                                     std::pair("offload", "activations,optimizer")})
    EXPECT_THAT(WhyNotOfNested(lever, value), testing::HasSubstr("nested")) << lever;
  for (const auto& [lever, value] :
       {std::pair("optimizer", "sgd"), std::pair("alloc-conf", "max_split_size_mb:32"),
        std::pair("offload", "optimizer:25GB/s")})
    EXPECT_EQ(WhyNotOfNested(lever, value), "") << lever;
}

// No operator of this step uses the previous step's batch. So a lever that halves this step's batch leaves
// the previous one unchanged. And the allocator did not split the block of the second batch.
TEST(WhatifTest, WhatReplacesABlockOfTheStepBeforeIsFoundByWhatWasRecorded) {
  Script script;
  script.Device(model::testing::kCuda0).TotalsAre(0, 8 << 20).Mark(trace::MarkKind::kDeepBegin, 1);
  const char* const batches[] = {"first", "second", "third"};
  for (int call = 0; call < 3; ++call) {
    script.Module("", [&] {
      script.Op("aten::empty", [&] { script.Alloc(batches[call], call == 2 ? 4608 : 4096, 4096); });
      if (call > 0) script.Free(batches[call - 1]);
      script.Op("aten::empty", [&] { script.Alloc("work", 512, 512); });
    });
    script.Free("work");
  }
  const model::Run run = script.Load();
  const classify::Analysis analysis(run);
  whatif::Step step = ReadStep(analysis, 0).value();
  const auto batch = std::find_if(step.blocks.begin(), step.blocks.end(),
                                  [](const StepBlock& block) { return block.begin != kBefore; });
  ASSERT_EQ(batch->requested, 4096u);
  batch->requested /= 2;
  const Scene scene = MakeScene(step);
  const auto changed = std::find_if(scene.blocks.begin(), scene.blocks.end(),
                                    [](const Block& block) { return block.bytes == 2048; });
  ASSERT_TRUE(changed != scene.blocks.end());
  EXPECT_GT(changed->end, scene.length) << "the next step's replaces it";
}

// A lever froze the parameter whose gradient the previous step left.
TEST(WhatifTest, ABatchDoesNotGoWhereAGradientOfItsSizeWent) {
  model::Run run;
  run.streams.push_back(0);
  whatif::Step step;
  step.run = &run, step.length = 100;
  const auto add = [&](Category category, Position begin, Position end) {
    StepBlock& block = step.blocks.emplace_back();
    block.id = model::kNone, block.requested = 4096, block.category = category;
    block.begin = begin, block.end = end;
  };
  add(Category::kGradient, kBefore, 5);
  step.blocks.back().name = "weight";
  add(Category::kInput, kBefore, 12);
  add(Category::kInput, 10, kForever);
  const Scene scene = MakeScene(step);
  const auto batch = std::find_if(scene.blocks.begin(), scene.blocks.end(),
                                  [](const Block& block) { return block.begin == 10; });
  ASSERT_TRUE(batch != scene.blocks.end());
  EXPECT_EQ(batch->end, 112);
}

TEST(WhatifTest, AGradientThatIsKeptIsNotMadeTwiceInTheFirstStep) {
  const whatif::Step step = TheLoop().Read();
  Scene scene = MakeScene(step);
  ASSERT_TRUE(ZeroGradLever().Apply(step, "keep", scene).ok());
  size_t later = 0, once = 0;
  for (const Block& block : scene.blocks) {
    if (block.category != Category::kGradient) continue;
    later += block.but_in_first;
    once += block.birth == Birth::kOnce;
  }
  EXPECT_EQ(later, 1u);
  EXPECT_EQ(once, 1u);
}

TEST(WhatifTest, SgdHasNoStateAndNothingWhileItSteps) {
  EXPECT_EQ(UseAfter({{"optimizer", "sgd"}}).peak.bytes, 2 * kWeightBytes + 3 * kBatchBytes);
}

TEST(WhatifTest, OnTheHostAnOptimizerTakesNothingOfTheDevice) {
  const Use offloaded = UseAfter({{"optimizer", "adamw"}, {"offload", "optimizer:25GB/s"}});
  EXPECT_EQ(offloaded.peak.bytes, UseAfter({{"optimizer", "sgd"}}).peak.bytes);
  const whatif::Step step = TheLoop().Read();
  const Baseline baseline = MakeBaseline(step, *TheLoop().analysis).value();
  Scene scene = baseline.scene;
  // The gradient moves to the host, and the weight moves back.
  const Outcome outcome = OffloadLever().Apply(step, "optimizer:16GB/s", scene).value();
  EXPECT_DOUBLE_EQ(outcome.extra_ns, 2 * kWeightBytes / 16.0);
  for (const char* value : {"", "weights", "optimizer:", "optimizer:0GB/s", "optimizer:25",
                            "optimizer:x GB/s", "activations,state"})
    EXPECT_FALSE(OffloadLever().Apply(step, value, scene).ok()) << value;
}

TEST(WhatifTest, AdamWithForeachPeaksWhileItStepsAndFusedDoesNot) {
  const Use foreach_way = UseAfter({{"optimizer", "adamw"}});
  // Weight, gradient, two states and the square roots; the batch and the step's result are alive too.
  EXPECT_EQ(foreach_way.peak.bytes, 5 * kWeightBytes + 2 * kBatchBytes);
  EXPECT_EQ(foreach_way.peak.phase, "optimizer");
  const Use fused = UseAfter({{"optimizer", "adamw:fused"}});
  EXPECT_EQ(fused.peak.bytes, 4 * kWeightBytes + 3 * kBatchBytes + 512);
  EXPECT_EQ(fused.peak.phase, "backward");
}

TEST(WhatifTest, GradientsThatAreKeptLieBesideTheNewOnes) {
  EXPECT_EQ(UseAfter({{"zero-grad", "keep"}}).peak.bytes, 4 * kWeightBytes + 3 * kBatchBytes);
}

TEST(WhatifTest, CheckpointingDropsWhatOnlySegmentsKept) {
  const whatif::Step step = TheLoop().Read();
  const Baseline baseline = MakeBaseline(step, *TheLoop().analysis).value();
  Scene scene = baseline.scene;
  ASSERT_TRUE(CheckpointLever().Apply(step, "all", scene).ok());
  // `hidden` is the input of the second block, which keeps it; and it is recomputed with the first one.
  size_t copies = 0;
  for (const Block& block : scene.blocks)
    copies += block.origin != model::kNone && step.blocks[block.origin].id == TheLoop().s.Id("hidden");
  EXPECT_EQ(copies, 1u) << "the first block saves nothing behind its begin: there is nothing to make again";
}

TEST(WhatifTest, TheStepOverTimeHasThePeakOfTheReplayAndCategoriesThatAddUp) {
  const whatif::Step step = TheLoop().Read();
  const Baseline baseline = MakeBaseline(step, *TheLoop().analysis).value();
  for (const std::vector<Asked>& asked : {std::vector<Asked>{},
                                          {{"checkpoint", "all"}},
                                          {{"accumulate", "2:whole"}},
                                          {{"optimizer", "adamw"}, {"empty-cache", "after-step"}}}) {
    UseOverStep use;
    const Prediction prediction = Predict(step, baseline, asked, &use).value();
    ASSERT_TRUE(prediction.refused.empty());
    uint64_t allocated = 0, reserved = 0;
    Position last = 0;
    for (const UseAt& point : use.points) {
      EXPECT_EQ(classify::Sum(point.categories), point.allocated);
      EXPECT_LE(point.allocated, point.reserved);
      EXPECT_GE(point.at, last);
      last = point.at;
      allocated = std::max(allocated, point.allocated);
      reserved = std::max(reserved, point.reserved);
    }
    EXPECT_EQ(use.points.front().at, 0);
    EXPECT_LE(last, use.length);
    EXPECT_EQ(allocated, prediction.after.allocator.allocated_peak);
    EXPECT_LE(reserved, prediction.after.allocator.reserved_peak);
    EXPECT_EQ(use.length, asked.empty() ? step.length : use.length);
  }
}

TEST(WhatifTest, PatternsWithCommasAreAllMeantAndEachMustFitSomething) {
  const whatif::Step step = TheLoop().Read();
  EXPECT_EQ(ChooseSegments(step, "blocks.0,blocks.1").value(), ChooseSegments(step, "all").value());
  EXPECT_EQ(ChooseSegments(step, "blocks.1.act,blocks.*").value(), ChooseSegments(step, "blocks.*").value());
  EXPECT_THAT(ChooseSegments(step, "blocks.0,encoder.*").error().sentence, testing::HasSubstr("encoder.*"));
  EXPECT_FALSE(ChooseSegments(step, ",").ok());

  Step switched = step;
  switched.own_switch = {"blocks.1", "not.called"};
  EXPECT_EQ(ChooseSegments(switched, "all").value(), ChooseSegments(step, "blocks.1").value());
}

TEST(WhatifTest, TheTreeOfModulesHasNamesBetweenAndWhatAutogradKeepsOfEach) {
  std::vector<std::string> lines;
  for (const ModuleNode& node : ModuleTree(TheLoop().Read())) {
    lines.push_back(std::string(node.depth, ' ') + node.path + " " + std::to_string(node.calls) + " " +
                    std::to_string(node.kept));
  }
  // `hidden` is the first block's result, saved by gelu's node; the batch existed before any module.
  EXPECT_THAT(lines, testing::ElementsAre("blocks 0 2048", " blocks.0 1 2048", "  blocks.0.linear 1 2048",
                                          " blocks.1 1 0", "  blocks.1.act 1 0"));
}

TEST(WhatifTest, AFurtherBatchKeepsTheFirstGradientBesideTheSecond) {
  // Weight, state, the kept gradient and the new one; the batch, the previous part's `out`, and what backward
  // works on.
  EXPECT_EQ(UseAfter({{"accumulate", "2:whole"}}).peak.bytes, 4 * kWeightBytes + 3 * kBatchBytes);
}

TEST(WhatifTest, WhatCannotBeAnsweredIsRefusedWithAReason) {
  const whatif::Step step = TheLoop().Read();
  const Baseline baseline = MakeBaseline(step, *TheLoop().analysis).value();
  const Prediction prediction = Predict(step, baseline,
                                        {{"optimizer", "lion"},
                                         {"accumulate", "x:whole"},
                                         {"checkpoint", "encoder.*"},
                                         {"prune", "0.5"},
                                         {"shard", "ddp:1"},
                                         {"shard", "ddp:2"},
                                         {"shard", "ddp:4"}})
                                    .value();
  EXPECT_EQ(prediction.levers.size(), 1u) << "one of the two kinds of sharding";
  EXPECT_EQ(prediction.refused.size(), 6u);
  for (const Refused& refused : prediction.refused) EXPECT_THAT(refused.reason, testing::EndsWith("."));
}

TEST(WhatifTest, WhatChangesWhatPyTorchComputesIsAReRuns) {
  const whatif::Step step = TheLoop().Read();
  const Baseline baseline = MakeBaseline(step, *TheLoop().analysis).value();
  for (const LeverInfo& lever : LeverTable()) {
    const bool rerun = lever.kind == AnsweredBy::kRerun;
    EXPECT_EQ(FindLever(lever.name) == nullptr, rerun && std::string_view(lever.name) != "accumulate");
    const Prediction prediction = Predict(step, baseline, {{lever.name, "nothing"}}).value();
    ASSERT_EQ(prediction.refused.size() + prediction.levers.size(), 1u) << lever.name;
    if (!rerun) continue;
    ASSERT_EQ(prediction.refused.size(), 1u) << lever.name;
    EXPECT_THAT(prediction.refused[0].reason, testing::HasSubstr("re-run of the recorded program"));
    EXPECT_EQ(prediction.after.peak.bytes, prediction.before.peak.bytes);
  }
  EXPECT_EQ(AnsweredHow("shard", "tp:8"), AnsweredBy::kRerun);
  EXPECT_EQ(AnsweredHow("shard", "pp:4:8"), AnsweredBy::kRerun);
  EXPECT_EQ(AnsweredHow("shard", "fsdp:8"), AnsweredBy::kTransform);
  EXPECT_EQ(AnsweredHow("alloc-conf", "x"), AnsweredBy::kAllocator);
  EXPECT_EQ(AnsweredHow("accumulate", "4"), AnsweredBy::kRerun);
  EXPECT_EQ(AnsweredHow("accumulate", "4:whole"), AnsweredBy::kTransform);
  for (const char* lean : {"adafactor", "adafactor:foreach", "adam8bit", "adamw8bit"})
    EXPECT_EQ(AnsweredHow("optimizer", lean), AnsweredBy::kRerun) << lean;
  for (const char* usual : {"adam", "adamw:fused", "sgd"})
    EXPECT_EQ(AnsweredHow("optimizer", usual), AnsweredBy::kTransform) << usual;
}

TEST(WhatifTest, ARunWithoutDeepStepsIsRefused) {
  Script s;
  s.Alloc("weight", 512);
  const model::Run run = s.Load();
  const classify::Analysis analysis(run);
  EXPECT_FALSE(ReadStep(analysis, 0).ok());
}

// Recorded by PyTorch 2.15 on the simulated A100: bias gradients of linear layers with 4,096 tokens.
TEST(ReductionTest, PartialSumsAreThoseThatPyTorchAsksFor) {
  const auto bias_gradient = [](int64_t tokens, int64_t features) {
    return Reduction{{{tokens, features, true}, {features, 1, false}}};
  };
  EXPECT_EQ(ScratchOf(bias_gradient(4096, 1024), {108, 2048}).sums, 33'554'432u);
  EXPECT_EQ(ScratchOf(bias_gradient(4096, 768), {108, 2048}).sums, 25'165'824u);
  EXPECT_EQ(ScratchOf(bias_gradient(4096, 256), {108, 2048}).sums, 8'388'608u);
  EXPECT_EQ(ScratchOf(bias_gradient(64, 1024), {108, 2048}).sums, 0u);
  EXPECT_EQ(ScratchOf(bias_gradient(4096, 1024), {108, 2048}).counters, 32u);
  EXPECT_EQ(ScratchOf(bias_gradient(64, 1024), {108, 2048}).counters, 0u);
}

TEST(SegmentsTest, AStarStandsForOneName) {
  EXPECT_TRUE(PathMatches("layers.*", "layers.3"));
  EXPECT_TRUE(PathMatches("layers.*.mlp", "layers.3.mlp"));
  EXPECT_FALSE(PathMatches("layers.*", "layers.3.mlp"));
  EXPECT_FALSE(PathMatches("layers.*.mlp", "layers.3"));
}

}  // namespace
}  // namespace vramscope::whatif
