// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/question.h"

#include <gtest/gtest.h>

namespace vramscope::experiment {
namespace {

TEST(QuestionTest, TypesAndSizesAreAskedOfPyTorchAndLivesAreComputed) {
  const Question question = SplitQuestion(
      {{"checkpoint", "all"}, {"amp", "bf16"}, {"shard", "ddp:8"}, {"batch", "2x"}, {"shard", "tp:2"}});
  ASSERT_EQ(question.rerun.size(), 3u);
  EXPECT_EQ(question.rerun[0].lever, "amp");
  EXPECT_EQ(question.rerun[1].lever, "batch");
  EXPECT_EQ(question.rerun[2].value, "tp:2");
  ASSERT_EQ(question.transformed.size(), 2u);
  EXPECT_EQ(question.transformed[0].lever, "checkpoint");
  EXPECT_EQ(question.transformed[1].value, "ddp:8");
}

// Adafactor's matrix products need workspaces, so it is re-run; optimizers that only keep state are computed.
TEST(QuestionTest, TheSameLeverIsAskedOrComputedByItsValue) {
  const Question question = SplitQuestion({{"optimizer", "adafactor:foreach"}, {"checkpoint", "all"}});
  ASSERT_EQ(question.rerun.size(), 1u);
  EXPECT_EQ(question.rerun[0].value, "adafactor:foreach");
  ASSERT_EQ(question.transformed.size(), 1u);
  EXPECT_EQ(question.transformed[0].lever, "checkpoint");
  EXPECT_TRUE(SplitQuestion({{"optimizer", "adamw:fused"}, {"accumulate", "2:whole"}}).rerun.empty());
}

TEST(QuestionTest, CheckpointsAreReRunWithFrozenWeights) {
  for (const char* lever : {"lora", "freeze"}) {
    const Question question = SplitQuestion({{"checkpoint", "all"}, {"alloc-conf", "x"}, {lever, "8"}});
    ASSERT_EQ(question.rerun.size(), 2u) << lever;
    EXPECT_EQ(question.rerun[0].lever, "checkpoint");
    ASSERT_EQ(question.transformed.size(), 1u) << lever;
  }
}

TEST(VariantKeyTest, IsTheSameInAnyOrderAndDiffersByEachPart) {
  const std::string key = VariantKey({{"batch", "2x"}, {"amp", "bf16"}}, {"rtx-4090", "", 1});
  EXPECT_EQ(key, "amp=bf16 batch=2x @ gpu=rtx-4090 world=1");
  EXPECT_EQ(VariantKey({{"amp", "bf16"}, {"batch", "2x"}}, {"rtx-4090", "", 1}), key);
  EXPECT_EQ(VariantKey({}, {"rtx-4090", "", 1}), "@ gpu=rtx-4090 world=1");
  EXPECT_NE(VariantKey({{"amp", "fp16"}, {"batch", "2x"}}, {"rtx-4090", "", 1}), key);
  EXPECT_NE(VariantKey({{"amp", "bf16"}, {"batch", "2x"}}, {"a100-40gb", "", 1}), key);
  EXPECT_NE(VariantKey({{"amp", "bf16"}, {"batch", "2x"}}, {"rtx-4090", "expandable_segments:True", 1}), key);
}

TEST(VariantKeyTest, AValueCannotPassForAnotherPart) {
  EXPECT_EQ(VariantKey({{"freeze", "a b@%"}}, {"x", "", 1}), "freeze=a%20b%40%25 @ gpu=x world=1");
}

TEST(VariantKeyTest, IsReadAsItWasMade) {
  for (const Place& place : {Place{"rtx-4090", "", 1}, Place{"x", "expandable_segments:True", 8}, Place{}}) {
    const std::vector<whatif::Asked> changes = {{"freeze", "a b@%=\n"}, {"batch", "2x"}};
    const auto parts = ReadVariantKey(VariantKey(changes, place));
    ASSERT_TRUE(parts);
    EXPECT_EQ(parts->place, place);
    EXPECT_EQ(OptionsText(parts->changes), OptionsText(changes));
  }
  EXPECT_TRUE(ReadVariantKey("@ gpu=x world=1")->changes.empty());
}

TEST(VariantKeyTest, WhatNoVariantIsKeptUnderIsNone) {
  for (const char* key :
       {"", "amp=bf16", "amp @ gpu=x world=1", "amp=bf16 @ gpu=x world=many", "amp=bf16 @ x=y world=1",
        "amp=bf16  @ gpu=x world=1", "batch=2x amp=bf16 @ gpu=x world=1", "@ @ gpu=x world=1",
        "amp=bf16 @ gpu=x%2 world=1"})
    EXPECT_FALSE(ReadVariantKey(key)) << key;
}

TEST(OptionsTextTest, IsAsACommandLineHasIt) {
  EXPECT_EQ(OptionsText({{"amp", "bf16"}, {"batch", "2x"}}), "--amp bf16 --batch 2x");
  EXPECT_EQ(OptionsText({}), "");
}

TEST(UsualVariantsTest, AreAllAnsweredByReruns) {
  for (const auto& changes : UsualVariants())
    for (const whatif::Asked& one : changes) EXPECT_TRUE(AnsweredByRerun(one)) << one.lever;
}

}  // namespace
}  // namespace vramscope::experiment
