// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/ask/try_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "profiler/collector/output/scratch_folder.h"
#include "profiler/experiment/try/try_run.h"
#include "profiler/whatif/scene/lever.h"

namespace vramscope::cli {

using experiment::Change;
using experiment::Outcome;
using experiment::ReadOutcomes;

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<Change> Read(std::vector<std::string> words) {
  VerbHelp help = {"try", "", "", {}, {ChangeOptions().begin(), ChangeOptions().end()}};
  words.insert(words.end(), {"--", "python", "train.py"});
  const Arguments arguments = VRAMSCOPE_TRY(Arguments::ParseWithCommand(help, words));
  return ChangeFrom(arguments);
}

std::string ChangeComplaint(std::vector<std::string> words) {
  const Result<Change> change = Read(std::move(words));
  return change.ok() ? "" : change.error().sentence;
}

nlohmann::json ChangePlan(std::vector<std::string> words) {
  return nlohmann::json::parse(PlanFor(*Read(std::move(words)), "/notes"));
}

TEST(TryChangeTest, SaysEverythingThatWasAskedForAndNothingElse) {
  EXPECT_EQ(ChangePlan({"--amp", "bf16"}), nlohmann::json::parse(R"({"notes": "/notes", "amp": "bf16"})"));
  EXPECT_EQ(
      ChangePlan({"--checkpoint", "layers.*,head", "--checkpoint", "x", "--batch", "0.5x", "--optimizer",
                  "adamw:fused", "--zero-grad-to-none", "no", "--alloc-conf", "expandable_segments:True"}),
      nlohmann::json::parse(
          R"({"notes": "/notes", "checkpoint": ["layers.*", "head", "x"], "batch": {"factor": 0.5},
                                      "optimizer": "adamw", "implementation": "fused", "zero_grad_to_none": false,
                                      "alloc_conf": "expandable_segments:True"})"));
  EXPECT_EQ(ChangePlan({"--lora", "8:layers.*.mlp,head", "--freeze", "embed,layers.0", "--attention", "math",
                        "--empty-cache", "after-step", "--quantize", "nf4", "--cross-entropy", "fused"}),
            nlohmann::json::parse(
                R"({"notes": "/notes", "lora": {"rank": 8, "modules": ["layers.*.mlp", "head"]},
                    "freeze": ["embed", "layers.0"], "attention": "math", "cross_entropy": "fused",
                    "empty_cache": "after-step", "beyond": {"quantize": "nf4"}})"));
  EXPECT_EQ(ChangePlan({"--zero-grad", "keep"}), ChangePlan({"--zero-grad-to-none", "no"}));
  EXPECT_EQ(ChangePlan({"--optimizer", "adamw:for-loop"}), ChangePlan({"--optimizer", "adamw:loop"}));
  EXPECT_EQ(ChangePlan({"--offload", "activations"})["offload"], "activations");
  EXPECT_EQ(ChangePlan({"--accumulate", "4"})["accumulate"], 4);
  EXPECT_EQ(ChangePlan({"--batch", "16"})["batch"], nlohmann::json::parse(R"({"size": 16})"));
}

TEST(TryChangeTest, IsWrittenAsItIsAskedFor) {
  const std::vector<std::string> words = {
      "--amp",        "fp16",     "--checkpoint",        "every:2", "--batch",      "1.5x",
      "--optimizer",  "sgd:loop", "--zero-grad-to-none", "yes",     "--alloc-conf", "",
      "--accumulate", "4"};
  const auto change = Read(words);
  ASSERT_TRUE(change.ok()) << change.error().sentence;
  EXPECT_EQ(change->Text(),
            "--amp fp16 --checkpoint every:2 --batch 1.5x --optimizer sgd:loop --zero-grad-to-none yes "
            "--alloc-conf  --accumulate 4");
  EXPECT_THAT(change->Levers(), ElementsAre("amp", "checkpoint", "batch", "optimizer", "zero-grad-to-none",
                                            "alloc-conf", "accumulate"));
  const auto more = Read({"--quantize", "nf4", "--empty-cache", "after-step", "--lora", "8:head", "--freeze",
                          "a,b", "--attention", "flash", "--cross-entropy", "chunked:4"});
  ASSERT_TRUE(more.ok()) << more.error().sentence;
  EXPECT_EQ(more->Text(),
            "--lora 8:head --freeze a,b --attention flash --cross-entropy chunked:4 --empty-cache after-step "
            "--quantize nf4");
  EXPECT_THAT(more->Levers(),
              ElementsAre("lora", "freeze", "attention", "cross-entropy", "empty-cache", "quantize"));
}

TEST(TryChangeTest, EveryLeverOfWhatifIsAppliedOrHasAReason) {
  for (const whatif::LeverInfo& lever : whatif::LeverTable()) {
    const std::string name = lever.name;
    EXPECT_TRUE(std::ranges::any_of(ChangeOptions(), [&](const Option& option) {
      return option.name == name;
    })) << name;
    Change change;
    const Status asked = Ask(name, "anything", change);
    EXPECT_EQ(!change.beyond.empty(), change.WhyBeyond(name) != nullptr) << name;
  }
}

TEST(TryChangeTest, WhatOfALeverIsForCodeHasAReason) {
  for (const auto& [option, value] :
       {std::pair{"--offload", "optimizer"}, {"--offload", "activations,optimizer"}}) {
    const auto change = Read({option, value});
    ASSERT_TRUE(change.ok()) << change.error().sentence;
    EXPECT_EQ(change->Text(), std::string(option) + " " + value);
    EXPECT_NE(change->WhyBeyond(std::string_view(option).substr(2)), nullptr) << option;
  }
  EXPECT_EQ(Read({"--offload", "activations"})->WhyBeyond("offload"), nullptr);
  for (const char* optimizer : {"adamw", "adafactor:foreach", "adamw8bit"})
    EXPECT_EQ(Read({"--optimizer", optimizer})->WhyBeyond("optimizer"), nullptr) << optimizer;
}

TEST(TryChangeTest, SaysWhatIsWrongWithAnOption) {
  EXPECT_THAT(ChangeComplaint({}), HasSubstr("needs a change"));
  EXPECT_THAT(ChangeComplaint({"--amp", "int8"}), HasSubstr("bf16 or fp16"));
  EXPECT_THAT(ChangeComplaint({"--offload", "parameters"}), HasSubstr("must be activations or optimizer"));
  EXPECT_THAT(ChangeComplaint({"--checkpoint", ","}), HasSubstr("names no modules"));
  EXPECT_THAT(ChangeComplaint({"--checkpoint", "all,ops:"}), HasSubstr("ops:matmul"));
  EXPECT_EQ(ChangeComplaint({"--checkpoint", "all,ops:mm"}), "");
  EXPECT_THAT(ChangeComplaint({"--checkpoint", "every:0"}), HasSubstr("a number from 1"));
  EXPECT_THAT(ChangeComplaint({"--checkpoint", "all", "--checkpoint", "head"}),
              HasSubstr("cannot be combined"));
  for (const char* batch : {"x", "0x", "-1x", "nanx", "infx", "0", "1.5", "2y", ""})
    EXPECT_THAT(ChangeComplaint({"--batch", batch}), HasSubstr("a factor like 0.5x")) << batch;
  for (const char* optimizer : {"lion", "adamw:", "adamw:quick", ":fused"})
    EXPECT_THAT(ChangeComplaint({"--optimizer", optimizer}),
                HasSubstr("sgd, momentum, adam, adamw, adafactor, adam8bit or adamw8bit"))
        << optimizer;
  EXPECT_THAT(ChangeComplaint({"--optimizer", "adamw8bit:fused"}), HasSubstr("only one implementation"));
  EXPECT_THAT(ChangeComplaint({"--optimizer", "adafactor:fused"}), HasSubstr("no fused Adafactor"));
  EXPECT_THAT(ChangeComplaint({"--zero-grad-to-none", "maybe"}), HasSubstr("yes or no"));
  EXPECT_THAT(ChangeComplaint({"--accumulate", "1"}), HasSubstr("2 or more"));
  for (const char* lora : {"0", "x", "8:", "8:,", "70000"})
    EXPECT_THAT(ChangeComplaint({"--lora", lora}), HasSubstr("needs a rank")) << lora;
  EXPECT_THAT(ChangeComplaint({"--freeze", ","}), HasSubstr("names no modules"));
  EXPECT_THAT(ChangeComplaint({"--attention", "quick"}), HasSubstr("must be flash, efficient or math"));
  for (const char* parts : {"chunked", "chunked:1", "chunked:x", "liger"})
    EXPECT_THAT(ChangeComplaint({"--cross-entropy", parts}), HasSubstr("fused or chunked:K")) << parts;
  EXPECT_THAT(ChangeComplaint({"--empty-cache", "often"}), HasSubstr("or after-step."));
  EXPECT_THAT(ChangeComplaint({"--zero-grad", "no"}), HasSubstr("must be keep"));
}

TEST(TryChangeTest, TheLineForABatchIsTheCommandsOwnOptionWhereItHasOne) {
  const Change half = *Read({"--batch", "0.5x"});
  const auto line = [&](std::vector<std::string> command) {
    return LinesToWrite(half, "batch", command).front();
  };
  EXPECT_THAT(line({"python", "train.py", "--batch-size", "7"}), HasSubstr("--batch-size 4 "));
  EXPECT_THAT(line({"python", "train.py", "--per_device_train_batch_size=32"}),
              HasSubstr("--per_device_train_batch_size=16 "));
  EXPECT_THAT(line({"python", "train.py", "--batches", "many"}), HasSubstr("batch_size * 0.5"));
  EXPECT_THAT(
      LinesToWrite(*Read({"--batch", "16"}), "batch", std::vector<std::string>{"x", "--batch", "1"}).front(),
      HasSubstr("--batch 16"));
}

TEST(TryChangeTest, EveryOptionHasLinesToWrite) {
  const Change change = *Read({"--amp",
                               "fp16",
                               "--checkpoint",
                               "all",
                               "--offload",
                               "activations",
                               "--batch",
                               "8",
                               "--optimizer",
                               "momentum:fused",
                               "--zero-grad-to-none",
                               "no",
                               "--alloc-conf",
                               "x:1",
                               "--accumulate",
                               "4",
                               "--lora",
                               "8",
                               "--freeze",
                               "x",
                               "--attention",
                               "flash",
                               "--empty-cache",
                               "after-step"});
  for (const std::string& lever : change.Levers())
    EXPECT_THAT(LinesToWrite(change, lever, {}), testing::Not(IsEmpty())) << lever;
  EXPECT_THAT(
      LinesToWrite(change, "optimizer", {}),
      ElementsAre("optimizer = torch.optim.SGD(model.parameters(), lr=..., momentum=0.9, fused=True)"));
}

TEST(TryChangeTest, WhatEachProcessSaidBecomesOneOutcomeForEachOption) {
  const collector::ScratchFolder folder;
  std::ofstream(folder.path() + "/1.try")
      << R"([{"lever": "amp", "state": "applied", "text": "around Gpt"}, {"lever": "checkpoint", "state": "unmatched", "text": "no such module"}])";
  std::ofstream(folder.path() + "/2.try")
      << R"([{"lever": "amp", "state": "applied", "text": "around Gpt"}, {"lever": "amp", "state": "refused", "text": "but"}, 7, {"lever": "other"}])";
  std::ofstream(folder.path() + "/3.try") << "[{\"lever\":";
  const Change change = *Read({"--amp", "bf16", "--checkpoint", "all", "--batch", "8", "--accumulate", "2",
                               "--offload", "optimizer"});
  const std::vector<Outcome> outcomes = ReadOutcomes(folder.path(), change);
  ASSERT_EQ(outcomes.size(), 5u);
  EXPECT_THAT(outcomes[0].applied, ElementsAre("around Gpt"));
  EXPECT_THAT(outcomes[0].refused, ElementsAre("but"));
  EXPECT_THAT(outcomes[1].refused, ElementsAre("no such module"));
  EXPECT_THAT(outcomes[2].refused, ElementsAre(HasSubstr("without a DataLoader")));
  EXPECT_THAT(outcomes[3].refused, ElementsAre(HasSubstr("without a DataLoader")));
  EXPECT_THAT(outcomes[4].refused, ElementsAre(HasSubstr("updates copies")));
}

}  // namespace
}  // namespace vramscope::cli
