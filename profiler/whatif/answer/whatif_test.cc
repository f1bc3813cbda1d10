// SPDX-License-Identifier: Apache-2.0
// What the author of a small loop knows of changed ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"
#include "profiler/timeline/curve.h"
#include "profiler/whatif/answer/nested_tensors.h"
#include "profiler/whatif/answer/predict.h"
#include "profiler/whatif/precision/autocast_rules.h"
#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/step/reduction.h"
#include "profiler/whatif/step/segments.h"
#include "profiler/whatif/testing/loop.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::testing::Script;

TEST(WhatifTest, WithoutAChangeThePeakIsTheRecordedOne) {
  // While the optimizer steps: weight, state, gradient, what it computes; the batch, and what the model
  // returned.
  EXPECT_EQ(After({}).peak.bytes, 4 * kWeightBytes + 2 * kBatchBytes);
  EXPECT_EQ(After({}).peak.phase, "optimizer");
  EXPECT_EQ(After({}).peak.bytes, timeline::DeviceCurve(TheLoop().run, 0).peak().bytes);
}

TEST(WhatifTest, WhatIsGoneBeforeTheLoopLeavesAHoleAndTakesNothing) {
  const Scene scene = MakeScene(TheLoop().Read());
  const auto gone = std::count_if(scene.blocks.begin(), scene.blocks.end(),
                                  [](const Block& block) { return block.Passes(); });
  EXPECT_EQ(gone, 1);
  EXPECT_LT(PeakOf(scene).bytes, 8 * kWeightBytes);
}

// What was too little to split off stays in a block, and is none of what another change would ask for.
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
  for (const auto& [lever, value] : {std::pair("batch", "2x"), std::pair("amp", "bf16"),
                                     std::pair("freeze", "*"), std::pair("offload", "activations,optimizer")})
    EXPECT_THAT(WhyNotOfNested(lever, value), testing::HasSubstr("nested")) << lever;
  for (const auto& [lever, value] :
       {std::pair("optimizer", "sgd"), std::pair("alloc-conf", "max_split_size_mb:32"),
        std::pair("precision", "bf16"), std::pair("offload", "optimizer:25GB/s")})
    EXPECT_EQ(WhyNotOfNested(lever, value), "") << lever;
}

// The batch of the step before is used by no operator of this one, so a lever that halves this one's leaves
// it as it was; and the allocator did not split the second one's block.
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

// A lever froze the parameter whose gradient the step before left.
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

TEST(WhatifTest, TheBatchReachesActivationsAndNotTheGradientOfAWeight) {
  const whatif::Step step = TheLoop().Read();
  const BatchAxis axis = FollowBatch(step).value();
  EXPECT_EQ(axis.batch, 8);
  std::map<std::string, bool> grows;
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    for (const char* name : {"batch", "hidden", "out", "between", "gradient", "weight", "state"}) {
      if (TheLoop().s.Id(name) == step.blocks[i].id) grows[name] = axis.stride[i] != 0;
    }
  }
  EXPECT_THAT(grows,
              testing::UnorderedElementsAre(testing::Pair("batch", true), testing::Pair("hidden", true),
                                            testing::Pair("out", true), testing::Pair("between", true),
                                            testing::Pair("gradient", false), testing::Pair("weight", false),
                                            testing::Pair("state", false)));
}

TEST(WhatifTest, TwiceTheBatchTakesTwiceItsBlocks) {
  EXPECT_EQ(After({{"batch", "2x"}}).peak.bytes, 4 * kWeightBytes + 2 * 2 * kBatchBytes);
  EXPECT_EQ(After({{"batch", "4"}}).peak.bytes, After({{"batch", "0.5x"}}).peak.bytes);
}

TEST(WhatifTest, FewerSamplesDoNotLowerAPeakInTheOptimizersStepAndThatIsSaid) {
  const whatif::Step step = TheLoop().Read();
  const Baseline baseline = MakeBaseline(step, *TheLoop().analysis).value();
  const auto notes = [&](const char* batch) {
    return Predict(step, baseline, {{"batch", batch}}).value().levers.front().outcome.notes;
  };
  EXPECT_THAT(notes("6"), testing::Contains(testing::HasSubstr("a smaller batch saves little, because")));
  EXPECT_THAT(notes("16"), testing::Not(testing::Contains(testing::HasSubstr("a smaller batch"))));
}

TEST(WhatifTest, SgdHasNoStateAndNothingWhileItSteps) {
  EXPECT_EQ(After({{"optimizer", "sgd"}}).peak.bytes, 2 * kWeightBytes + 3 * kBatchBytes);
}

TEST(WhatifTest, OnTheHostAnOptimizerTakesNothingOfTheDevice) {
  const Use offloaded = After({{"optimizer", "adamw"}, {"offload", "optimizer:25GB/s"}});
  EXPECT_EQ(offloaded.peak.bytes, After({{"optimizer", "sgd"}}).peak.bytes);
  const whatif::Step step = TheLoop().Read();
  const Baseline baseline = MakeBaseline(step, *TheLoop().analysis).value();
  Scene scene = baseline.scene;
  // The gradient there and the weight back.
  const Outcome outcome = OffloadLever().Apply(step, "optimizer:16GB/s", scene).value();
  EXPECT_DOUBLE_EQ(outcome.extra_ns, 2 * kWeightBytes / 16.0);
  for (const char* value : {"", "weights", "optimizer:", "optimizer:0GB/s", "optimizer:25",
                            "optimizer:x GB/s", "activations,state"})
    EXPECT_FALSE(OffloadLever().Apply(step, value, scene).ok()) << value;
}

TEST(WhatifTest, AdamWithForeachPeaksWhileItStepsAndFusedDoesNot) {
  const Use foreach_way = After({{"optimizer", "adamw"}});
  // Weight, gradient, two states and the square roots; the batch and what the step returned are alive too.
  EXPECT_EQ(foreach_way.peak.bytes, 5 * kWeightBytes + 2 * kBatchBytes);
  EXPECT_EQ(foreach_way.peak.phase, "optimizer");
  const Use fused = After({{"optimizer", "adamw:fused"}});
  EXPECT_EQ(fused.peak.bytes, 4 * kWeightBytes + 3 * kBatchBytes + 512);
  EXPECT_EQ(fused.peak.phase, "backward");
}

TEST(WhatifTest, AccumulatingKeepsTheFirstGradientBesideTheSecond) {
  // Batches of 4; the second part computes a gradient beside the kept one.
  EXPECT_EQ(After({{"accumulate", "2"}}).peak.bytes, 4 * kWeightBytes + 3 * kBatchBytes / 2);
}

TEST(WhatifTest, GradientsThatAreKeptLieBesideTheNewOnes) {
  EXPECT_EQ(After({{"zero-grad", "keep"}}).peak.bytes, 4 * kWeightBytes + 3 * kBatchBytes);
}

TEST(WhatifTest, UnderAutocastWhatAMatrixProductReachesIsHalfAndTheOptimizerIsNot) {
  // The peak stays in the optimizer: only what the step returned is half.
  EXPECT_EQ(After({{"amp", "bf16"}}).peak.bytes, 4 * kWeightBytes + kBatchBytes + kBatchBytes / 2);
  // Without its memory it is where the weight's gradient is converted: the 16-bit one lies beside the float
  // one.
  const Use sgd = After({{"amp", "bf16"}, {"optimizer", "sgd"}});
  EXPECT_EQ(sgd.peak.bytes, 2 * kWeightBytes + kWeightBytes / 2 + kBatchBytes + kBatchBytes / 2);
  EXPECT_EQ(sgd.peak.phase, "backward");
  // With 8 times the batch it is before that: the cast weight is kept and the cast batch, `hidden`, `out` and
  // `between` are half, and so is what backward begins with, which no operand says to be of the batch.
  const Use large = After({{"amp", "bf16"}, {"optimizer", "sgd"}, {"batch", "8x"}});
  EXPECT_EQ(large.peak.bytes,
            3 * kWeightBytes / 2 + kBatchBytes / 2 + 8 * (kBatchBytes + 4 * kBatchBytes / 2));
}

TEST(WhatifTest, AGradScalerKeepsItsScaleAndItsCounter) {
  EXPECT_EQ(After({{"amp", "fp16"}}).peak.bytes, After({{"amp", "bf16"}}).peak.bytes + 3 * 512);
}

TEST(WhatifTest, InSixteenBitsWeightStateGradientAndActivationsAreHalf) {
  // What the optimizer computes is known to no operator here, and stays as it is.
  const Use half = After({{"precision", "bf16"}});
  EXPECT_EQ(half.peak.bytes, 3 * kWeightBytes / 2 + kWeightBytes + 2 * kBatchBytes / 2);
  EXPECT_EQ(After({{"precision", "fp16"}}).peak.bytes, half.peak.bytes);
  // Unlike autocast no copy of the weight is made, and its gradient is not converted.
  EXPECT_EQ(After({{"precision", "bf16"}, {"optimizer", "sgd"}}).peak.bytes,
            2 * kWeightBytes / 2 + 3 * kBatchBytes / 2);
  EXPECT_EQ(After({{"precision", "bf16"}, {"optimizer", "adamw"}}).peak.bytes,
            5 * kWeightBytes / 2 + 2 * kBatchBytes / 2);
}

TEST(WhatifTest, AutocastAndSixteenBitsExcludeEachOther) {
  const whatif::Step step = TheLoop().Read();
  const Baseline baseline = MakeBaseline(step, *TheLoop().analysis).value();
  const Prediction both = Predict(step, baseline, {{"precision", "bf16"}, {"amp", "bf16"}}).value();
  ASSERT_EQ(both.refused.size(), 1u);
  EXPECT_EQ(both.refused.front().asked.lever, "precision");
  EXPECT_THAT(both.refused.front().reason, testing::HasSubstr("exclude each other"));
}

TEST(WhatifTest, WithLoraTwoMatricesAreTrainedInThePlaceOfTheWeight) {
  // At gelu's backward: the weight, both matrices of 2 x 64 floats and the state of each; the batch,
  // `hidden`, `out`, `seed` and `between`; and what the first matrix made, which the second keeps.
  constexpr uint64_t kMatrixBytes = 512;
  const Use lora = After({{"lora", "2"}});
  EXPECT_EQ(lora.peak.bytes, kWeightBytes + 4 * kMatrixBytes + 5 * kBatchBytes + 512);
  EXPECT_EQ(lora.peak.phase, "backward");
  // `seed` is said by no operand to be of the batch.
  EXPECT_EQ(After({{"batch", "2x"}, {"lora", "2:blocks.*"}}).peak.bytes, lora.peak.bytes + 4 * kBatchBytes);
  EXPECT_EQ(After({{"lora", "2"}, {"optimizer", "sgd"}}).peak.bytes, lora.peak.bytes - 2 * kMatrixBytes);
}

TEST(WhatifTest, CodesStandForAFrozenWeightWhichIsThereWhileItMultiplies) {
  // Codes, a float for each 64, both matrices and the state of each, the batch; restored in forward, the
  // weight and what it makes, in 8 bits.
  constexpr uint64_t kRest = 512 + 4 * 512 + kBatchBytes;
  const Use eight = After({{"quantize", "int8"}, {"lora", "2"}});
  EXPECT_EQ(eight.peak.bytes, kWeightBytes / 4 + kRest + kWeightBytes + kBatchBytes);
  EXPECT_EQ(eight.peak.phase, "forward");
  // In 4 bits also what the 256 pairs of codes are, and for a moment an index for each.
  const Use four = After({{"quantize", "nf4:blocks.*"}, {"lora", "2"}});
  EXPECT_EQ(four.peak.bytes, kWeightBytes / 8 + kRest + 2048 + kWeightBytes + kWeightBytes / 2);
}

TEST(WhatifTest, AutocastRulesAreThoseOfTheRelease) {
  EXPECT_EQ(AutocastRuleOf("aten::linear", "2.15.0"), CastRule::kLow);
  EXPECT_EQ(AutocastRuleOf("aten::layer_norm", "2.2.2"), CastRule::kSingle);
  EXPECT_EQ(AutocastRuleOf("aten::softmax", "2.15.0"), CastRule::kIntoSingle);
  EXPECT_EQ(AutocastRuleOf("aten::rms_norm", "2.6.0"), CastRule::kAsGiven);
  EXPECT_EQ(AutocastRuleOf("aten::rms_norm", "2.15.0"), CastRule::kSingle);
  EXPECT_EQ(AutocastRuleOf("aten::gelu", "2.15.0"), CastRule::kAsGiven);
  EXPECT_EQ(AutocastRuleOf("linear", "2.15.0"), CastRule::kAsGiven);
}

TEST(WhatifTest, BackwardOfANormHasTheTypeOfItsGradientThoughItsStatisticsAreFloats) {
  for (const char* name : {"aten::native_layer_norm_backward", "aten::native_group_norm_backward",
                           "aten::native_batch_norm_backward", "aten::_fused_rms_norm_backward"})
    EXPECT_TRUE(FollowsFirst(name)) << name;
  EXPECT_FALSE(FollowsFirst("aten::native_layer_norm"));
}

TEST(WhatifTest, CheckpointingDropsWhatOnlySegmentsKept) {
  const whatif::Step step = TheLoop().Read();
  const Baseline baseline = MakeBaseline(step, *TheLoop().analysis).value();
  Scene scene = baseline.scene;
  ASSERT_TRUE(CheckpointLever().Apply(step, "all", scene).ok());
  // `hidden` is the input of the second block, which keeps it; and it is made again when the first one is.
  size_t copies = 0;
  for (const Block& block : scene.blocks)
    copies += block.origin != model::kNone && step.blocks[block.origin].id == TheLoop().s.Id("hidden");
  EXPECT_EQ(copies, 1u) << "the first block saves nothing behind its begin: there is nothing to make again";
}

TEST(WhatifTest, TheStepOverTimeHasThePeakOfTheReplayAndCategoriesThatAddUp) {
  const whatif::Step step = TheLoop().Read();
  const Baseline baseline = MakeBaseline(step, *TheLoop().analysis).value();
  for (const std::vector<Asked>& asked : {std::vector<Asked>{},
                                          {{"batch", "4x"}},
                                          {{"accumulate", "2"}},
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
}

TEST(WhatifTest, TheTreeOfModulesHasNamesBetweenAndWhatAutogradKeepsOfEach) {
  std::vector<std::string> lines;
  for (const ModuleNode& node : ModuleTree(TheLoop().Read())) {
    lines.push_back(std::string(node.depth, ' ') + node.path + " " + std::to_string(node.calls) + " " +
                    std::to_string(node.kept));
  }
  // `hidden` is what the first block makes and gelu's node keeps; the batch was there before any module.
  EXPECT_THAT(lines, testing::ElementsAre("blocks 0 2048", " blocks.0 1 2048", "  blocks.0.linear 1 2048",
                                          " blocks.1 1 0", "  blocks.1.act 1 0"));
}

TEST(WhatifTest, WhatCannotBeAnsweredIsRefusedWithAReason) {
  const whatif::Step step = TheLoop().Read();
  const Baseline baseline = MakeBaseline(step, *TheLoop().analysis).value();
  const Prediction prediction = Predict(step, baseline,
                                        {{"batch", "0.3x"},
                                         {"optimizer", "lion"},
                                         {"accumulate", "3"},
                                         {"checkpoint", "encoder.*"},
                                         {"amp", "int8"},
                                         {"lora", "0"},
                                         {"lora", "4:encoder.*"},
                                         {"quantize", "nf4"},
                                         {"quantize", "int4"}})
                                    .value();
  EXPECT_EQ(prediction.refused.size(), 9u);
  EXPECT_EQ(prediction.after.peak.bytes, prediction.before.peak.bytes);
  for (const Refused& refused : prediction.refused) EXPECT_THAT(refused.reason, testing::EndsWith("."));
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
    return Reduction{{{tokens, features, true, tokens / 64}, {features, 1, false, 0}}};
  };
  EXPECT_EQ(ScratchOf(bias_gradient(4096, 1024), {108, 2048}).sums, 33'554'432u);
  EXPECT_EQ(ScratchOf(bias_gradient(4096, 768), {108, 2048}).sums, 25'165'824u);
  EXPECT_EQ(ScratchOf(bias_gradient(4096, 256), {108, 2048}).sums, 8'388'608u);
  EXPECT_EQ(ScratchOf(WithBatch(bias_gradient(4096, 1024), 32), {108, 2048}).sums, 16'777'216u);
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
