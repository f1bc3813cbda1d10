// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/source/factory_facts.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>

namespace vramscope::whatif {
namespace {

// Operators of these names, each given block 10, 11, ... first.
Step StepOf(const std::vector<std::string>& names) {
  Step step;
  step.own_texts = std::make_shared<std::deque<std::string>>(names.begin(), names.end());
  for (uint32_t i = 0; i < names.size(); ++i) {
    Op& op = step.ops.emplace_back();
    op.name = Step::kFirstOwnText + i;
    op.begin = 10 * i + 5;
    op.first_input = i, op.input_count = names[i] == "aten::zeros" ? 0 : 1;
    step.operands.push_back({i, 10 + i, 0, 0, 0, 0, 0, 0, 6, 0});
  }
  return step;
}

TEST(FactoryFactsTest, JoinsALineWithWhatItMakes) {
  FactoryFacts facts;
  facts.AddMark("models/gpt.py:42 type");
  facts.AddMark("models/gpt.py:43 tensor");
  facts.AddMark("models/gpt.py:44 of a newer recorder");
  facts.AddCaller(0, "scan (models/gpt.py:42)");
  facts.AddCaller(1, "scan (models/gpt.py:42)");
  facts.AddCaller(2, "scan (models/gpt.py:43)");
  facts.AddCaller(3, "scan (models/gpt.py:44)");
  Step step = StepOf({"aten::zeros", "aten::mul", "aten::zeros_like", "aten::zeros"});
  facts.Tell(step);
  EXPECT_EQ(step.ops[0].asks, Asks::kType);
  EXPECT_EQ(step.ops[1].asks, Asks::kNotTold) << "it makes nothing of a type that is named";
  EXPECT_EQ(step.ops[2].asks, Asks::kTensor);
  EXPECT_EQ(step.ops[3].asks, Asks::kNotTold);
}

// In each call of a module, whether the line runs before or behind.
TEST(FactoryFactsTest, WhatAnotherLineIsGivenFirstIsAsked) {
  FactoryFacts facts;
  facts.AddMark("gpt.py:42 tensor@45");
  for (const uint32_t op : {0, 3}) facts.AddCaller(op, "scan (gpt.py:42)");
  for (const uint32_t op : {1, 2, 4}) facts.AddCaller(op, "scan (gpt.py:45)");
  Step step = StepOf({"aten::zeros", "aten::slice", "aten::mul", "aten::zeros", "aten::slice"});
  step.modules = {{0, model::kNone, 0, 30}, {0, model::kNone, 32, 90}};
  facts.Tell(step);
  EXPECT_EQ(step.ops[0].asked, 11u);
  EXPECT_EQ(step.ops[3].asked, 14u);
}

TEST(FactoryFactsTest, OfSeveralLinesTheFirstThatRanShowsWhatIsAsked) {
  FactoryFacts facts;
  facts.AddMark("gpt.py:42 tensor@45@47");
  for (const uint32_t op : {0, 2}) facts.AddCaller(op, "scan (gpt.py:42)");
  facts.AddCaller(1, "scan (gpt.py:47)");
  facts.AddCaller(3, "scan (gpt.py:47)"), facts.AddCaller(4, "scan (gpt.py:45)");
  Step step = StepOf({"aten::zeros", "aten::slice", "aten::zeros", "aten::slice", "aten::mul"});
  step.modules = {{0, model::kNone, 0, 20}, {0, model::kNone, 20, 90}};
  facts.Tell(step);
  EXPECT_EQ(step.ops[0].asked, 11u) << "line 45 did not run in this call";
  EXPECT_EQ(step.ops[2].asked, 14u);
}

TEST(FactoryFactsTest, AnArgumentThatWasToldIsAsked) {
  FactoryFacts facts;
  facts.AddMark("gpt.py:42 tensor@45");
  facts.AddCaller(0, "scan (gpt.py:42)");
  facts.AddCaller(1, "scan (gpt.py:45)");
  Step step = StepOf({"aten::zeros", "aten::slice"});
  step.ops[0].asked = 7;
  facts.Tell(step);
  EXPECT_EQ(step.ops[0].asked, 7u);
}

TEST(FactoryFactsTest, AnArgumentThatIsLeftOutNamesTheTypeForThatCall) {
  FactoryFacts facts;
  facts.AddMark("utils.py:7<dice.py:46 type");
  const char* const from[] = {"forward (dice.py:46)", "forward (dice.py:50)"};
  for (uint32_t op = 0; op < 2; ++op) {
    facts.AddCaller(op, "one_hot (utils.py:7)");
    facts.AddCaller(op, from[op]);
    facts.AddCaller(op, "main (dice.py:46)");
  }
  Step step = StepOf({"aten::zeros", "aten::zeros"});
  facts.Tell(step);
  EXPECT_EQ(step.ops[0].asks, Asks::kType);
  EXPECT_EQ(step.ops[1].asks, Asks::kNotTold);
}

// DiagonalGaussianDistribution.sample() of diffusers: randn_tensor(shape, dtype=self.parameters.dtype).
TEST(FactoryFactsTest, WhatACallerPassesOnIsShownByLinesOfItsOwnFile) {
  for (const std::string file : {"vae.py", "<stdin>"}) {
    FactoryFacts facts;
    facts.AddMark("utils.py:7<" + file + ":46 tensor@40");
    facts.AddCaller(0, "Gaussian.__init__ (utils.py:40)");
    facts.AddCaller(1, "Gaussian.__init__ (" + file + ":40)");
    facts.AddCaller(2, "randn (utils.py:7)"), facts.AddCaller(2, "Gaussian.sample (" + file + ":46)");
    Step step = StepOf({"aten::mul", "aten::chunk", "aten::zeros"});
    facts.Tell(step);
    EXPECT_EQ(step.ops[2].asks, Asks::kTensor) << file;
    EXPECT_EQ(step.ops[2].asked, 11u) << file;
  }
}

// warped, field = model(...); one_hot(labels, 3, dtype=field.dtype)
TEST(FactoryFactsTest, WhatTheModelReturnedIsToldByTheLineThatAsksForItsType) {
  FactoryFacts facts;
  facts.AddMark("utils.py:7<train.py:46 tensor");
  facts.AddMark("utils.py:7<train.py:47 tensor");
  facts.AddAsked("utils.py:7<train.py:46", 3);
  for (uint32_t op = 0; op < 2; ++op) {
    facts.AddCaller(op, "one_hot (utils.py:7)");
    facts.AddCaller(op, op == 0 ? "loss (train.py:46)" : "loss (train.py:47)");
  }
  Step step = StepOf({"aten::zeros", "aten::zeros"});
  facts.Tell(step);
  EXPECT_EQ(step.ops[0].asked, 3u);
  EXPECT_EQ(step.ops[1].asked, model::kNone);
}

TEST(FactoryFactsTest, SeveralInALineAreTakenInTheirOrder) {
  FactoryFacts facts;
  facts.AddMark("gpt.py:42 type,-,tensor@45");
  for (uint32_t op = 0; op < 7; ++op) facts.AddCaller(op, "scan (gpt.py:42)");
  facts.AddCaller(7, "scan (gpt.py:45)");
  Step step = StepOf({"aten::zeros", "aten::zeros", "aten::mul", "aten::zeros", "aten::zeros", "aten::zeros",
                      "aten::zeros", "aten::slice"});
  facts.Tell(step);
  const std::vector<Asks> wanted = {Asks::kType, Asks::kNotTold, Asks::kNotTold, Asks::kTensor,
                                    Asks::kType, Asks::kNotTold, Asks::kTensor};
  for (size_t op = 0; op < wanted.size(); ++op) EXPECT_EQ(step.ops[op].asks, wanted[op]) << op;
  EXPECT_EQ(step.ops[3].asked, 17u);
  EXPECT_EQ(step.ops[4].asked, model::kNone);
}

TEST(FactoryFactsTest, ALineThatDidNotRunToItsEndIsNotTold) {
  FactoryFacts facts;
  facts.AddMark("gpt.py:42 type,tensor");
  for (uint32_t op = 0; op < 3; ++op) facts.AddCaller(op, "scan (gpt.py:42)");
  Step step = StepOf({"aten::zeros", "aten::zeros", "aten::zeros"});
  facts.Tell(step);
  for (const Op& op : step.ops) EXPECT_EQ(op.asks, Asks::kNotTold);
}

}  // namespace
}  // namespace vramscope::whatif
