// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/ask/try_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace vramscope::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr uint64_t kMiB = 1 << 20;

Measured Ran(uint64_t allocated, std::optional<uint64_t> reserved = {}) {
  Measured run;
  run.answer.device = "cuda:0";
  run.answer.peak.allocated_bytes = allocated;
  run.answer.peak.step = 2;
  run.answer.peak.phase = timeline::Phase::kBackward;
  run.answer.steps.resize(3);
  if (reserved.has_value()) run.answer.peak.reserved_bytes = *reserved - 10;
  run.reserved_bytes = reserved;
  return run;
}

Measured OutOfMemory(uint64_t reached, uint64_t missing) {
  Measured run = Ran(reached);
  run.fits = false;
  run.shortfall_bytes = missing;
  return run;
}

TryPlan HalfABatchInLow() {
  TryPlan plan;
  plan.change.amp = "bf16";
  plan.change.batch_factor = 0.5;
  plan.run.command = {"python", "train.py", "--batch-size", "32"};
  return plan;
}

const std::vector<Outcome> kOutcomes = {{"amp", {"around Gpt"}, {}}, {"batch", {}, {"no DataLoader"}}};

std::string Text(const Measured& before, const Measured& after) {
  return TryText(HalfABatchInLow(), before, after, kOutcomes, Predicted{}, Terminal{});
}

TEST(TryScreenTest, ThePeaksStandSideBySideWithTheirDifference) {
  const std::string text = Text(Ran(100 * kMiB, 120 * kMiB), Ran(75 * kMiB, 120 * kMiB));
  EXPECT_THAT(text, StartsWith("The peak of allocated memory falls from 100.0 MiB to 75.0 MiB, 25.0 % less.\n"
                               "Measured on cuda:0: --amp bf16 --batch 0.5x\n"));
  EXPECT_THAT(text, HasSubstr("-25.0 MiB (-25.0 %)\n"));
  EXPECT_THAT(text, HasSubstr("120.0 MiB         120.0 MiB  no change\n"));
  EXPECT_THAT(text, HasSubstr("step 2, backward  step 2, backward\n"));
  EXPECT_THAT(text, Not(HasSubstr("Device used"))) << "nobody knows it";
  EXPECT_THAT(Text(Ran(kMiB), Ran(2 * kMiB)),
              StartsWith("The peak of allocated memory rises from 1.0 MiB to 2.0 MiB, 100.0 % more."));
  EXPECT_THAT(Text(Ran(kMiB), Ran(kMiB)), StartsWith("The change does not change the peak"));
}

Measured WithTensorFlow(uint64_t requested, uint64_t allocated) {
  Measured run = Ran(allocated);
  run.requested_bytes = requested;
  static const auto tensorflow = [] {
    model::Framework made = model::PyTorch();
    made.allocator = model::AllocatorModel::kBfc;
    return made;
  }();
  run.answer.framework = &tensorflow;
  return run;
}

TEST(TryScreenTest, RunsWhoseAllocatedBytesVaryAreComparedByRequestedBytes) {
  const std::string text = Text(WithTensorFlow(80 * kMiB, 100 * kMiB), WithTensorFlow(60 * kMiB, 102 * kMiB));
  EXPECT_THAT(text,
              StartsWith("The peak of requested memory falls from 80.0 MiB to 60.0 MiB, 25.0 % less.\n"));
  EXPECT_THAT(text, HasSubstr("Peak requested          80.0 MiB          60.0 MiB  -20.0 MiB (-25.0 %)\n"));
  EXPECT_THAT(text, HasSubstr("Peak allocated         100.0 MiB         102.0 MiB  +2.0 MiB (+2.0 %)\n"));
  EXPECT_THAT(text, HasSubstr("the requested peak hardly does.\n"));
  Measured pytorch = Ran(100 * kMiB);
  pytorch.requested_bytes = 80 * kMiB;
  EXPECT_THAT(Text(pytorch, pytorch), Not(HasSubstr("requested")));
}

TEST(TryScreenTest, ARunThatRanOutOfMemoryHasNoPeakToCompareWith) {
  const std::string text = Text(OutOfMemory(300 * kMiB, 20 * kMiB), Ran(100 * kMiB));
  EXPECT_THAT(text, StartsWith("The command fits with the change. Without the change, it ran out of memory, "
                               "at least 20.0 MiB missing.\n"));
  EXPECT_THAT(text, Not(HasSubstr("%")));
  EXPECT_THAT(Text(Ran(kMiB), OutOfMemory(kMiB, 0)),
              StartsWith("The command runs out of memory with the change, but not without the change.\n"));
  EXPECT_THAT(Text(OutOfMemory(1, 1), OutOfMemory(1, kMiB)),
              StartsWith("The command runs out of memory with the change too, at least 1.0 MiB missing.\n"));
}

TEST(TryScreenTest, WhatWasNotAppliedComesWithItsReasonAndTheLines) {
  EXPECT_FALSE(AllApplied(kOutcomes));
  EXPECT_THAT(Text(Ran(1), Ran(1)), HasSubstr("Applied:\n  amp               around Gpt\n"
                                              "Not applied:\n  batch             no DataLoader.\n"
                                              "    In code:\n      --batch-size 16  in the command\n"));
}

TEST(TryScreenTest, ARunToWhichNothingWasAppliedSaysNothingOfTheChange) {
  const std::vector<Outcome> none = {{"amp", {}, {"no module was called"}}, {"batch", {}, {"no DataLoader"}}};
  EXPECT_THAT(TryText(HalfABatchInLow(), Ran(1), Ran(1), none, Predicted{}, Terminal{}),
              StartsWith("No part of the change was applied: the command ran unchanged.\n"));
}

TEST(TryScreenTest, WhatIsOnlyForCodeComesWithTheLinesOfThePrediction) {
  TryPlan plan = HalfABatchInLow();
  plan.change.beyond = {{"quantize", "nf4"}};
  const std::vector<Outcome> outcomes = {{"quantize", {}, {plan.change.WhyBeyond("quantize")}}};
  EXPECT_THAT(NotAppliedText(plan, outcomes, {}),
              HasSubstr("  vramscope whatif RUN --quantize nf4  shows them\n"));
  Predicted predicted;
  predicted.code["quantize"] = "# of blocks.0:\nlayer.weight = ...";
  EXPECT_THAT(NotAppliedText(plan, outcomes, predicted),
              HasSubstr("    In code:\n      # of blocks.0:\n      layer.weight = ...\n"));
}

TEST(TryScreenTest, JsonSaysTheSame) {
  const auto document = nlohmann::json::parse(TryJson(HalfABatchInLow(), OutOfMemory(300, 20), Ran(100, 120),
                                                      kOutcomes, Predicted{"no step", 0, 0, 0, 0}));
  EXPECT_EQ(document["change"], "--amp bf16 --batch 0.5x");
  EXPECT_EQ(document["gpu"], nullptr);
  EXPECT_EQ(document["before"]["fits"], false);
  EXPECT_EQ(document["before"]["shortfall_bytes"], 20);
  EXPECT_EQ(document["before"]["peak"]["reserved_bytes"], nullptr);
  EXPECT_EQ(document["after"]["peak"]["reserved_bytes"], 110) << "when most was allocated";
  EXPECT_EQ(document["after"]["peak"]["reserved_peak_bytes"], 120) << "at any time";
  EXPECT_EQ(document["after"]["peak"]["phase"], "backward");
  EXPECT_EQ(document["applied"], nlohmann::json::parse(R"([{"option": "amp", "what": "around Gpt"}])"));
  EXPECT_EQ(document["not_applied"][0]["lines"][0], "--batch-size 16  in the command");
}

TEST(TryScreenTest, WhatWasPredictedStandsBesideWhatWasMeasured) {
  const Predicted predicted{"", 74 * kMiB, 120 * kMiB, 76 * kMiB, 140 * kMiB};
  const std::vector<Outcome> applied = {{"amp", {"around Gpt"}, {}}};
  const std::string text = TryText(HalfABatchInLow(), Ran(100 * kMiB, 120 * kMiB), Ran(75 * kMiB, 120 * kMiB),
                                   applied, predicted, Terminal{});
  EXPECT_THAT(text,
              HasSubstr("Predicted from the unchanged run: 74.0 MiB allocated, 120.0 MiB reserved; at most "
                        "76.0 MiB and 140.0 MiB in 99 of 100 runs.\n"));
  EXPECT_THAT(Text(Ran(kMiB), Ran(kMiB)), Not(HasSubstr("Predicted")));
}

}  // namespace
}  // namespace vramscope::cli
