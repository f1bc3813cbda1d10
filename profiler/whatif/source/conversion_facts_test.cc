// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/source/conversion_facts.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>

namespace vramscope::whatif {
namespace {

// With so many operators, conversions all of them.
Step StepOf(size_t ops) {
  Step step;
  step.own_texts =
      std::make_shared<std::deque<std::string>>(std::deque<std::string>{"aten::to", "aten::mul"});
  step.ops.resize(ops);
  for (Op& op : step.ops) op.name = Step::kFirstOwnText;
  return step;
}

TEST(ConversionFactsTest, JoinsALineWithTheFramesThatRunIt) {
  ConversionFacts facts;
  facts.AddCaller(0, "rotate (models/gpt.py:42)");
  facts.AddMark("models/gpt.py:42 type");
  facts.AddMark("models/gpt.py:43 tensor again");
  facts.AddCaller(1, "rotate.<locals>.<lambda> (models/gpt.py:43)");
  facts.AddCaller(2, "rotate (models/gpt.py:44)");
  Step step = StepOf(4);
  facts.Tell(step);
  EXPECT_EQ(step.ops[0].asks, Asks::kType) << "whatever of the two came first";
  EXPECT_FALSE(step.ops[0].again);
  EXPECT_EQ(step.ops[1].asks, Asks::kTensor);
  EXPECT_TRUE(step.ops[1].again);
  EXPECT_EQ(step.ops[2].asks, Asks::kNotTold) << "of its line nothing was told";
  EXPECT_EQ(step.ops[3].asks, Asks::kNotTold) << "its caller was not told";
}

TEST(ConversionFactsTest, ACallForTheTypeThatATensorHasAsksForNone) {
  ConversionFacts facts;
  facts.AddMark("net.py:7 own");
  facts.AddMark("net.py:8 type,own");
  facts.AddCaller(0, "f (net.py:7)");
  facts.AddCaller(1, "f (net.py:8)");
  facts.AddCaller(2, "f (net.py:8)");
  Step step = StepOf(3);
  facts.Tell(step);
  for (size_t op = 0; op < 3; ++op) EXPECT_EQ(step.ops[op].moves, op != 1) << op;
  EXPECT_EQ(step.ops[1].asks, Asks::kType);
}

TEST(ConversionFactsTest, CallsOfOneLineAreTakenInTheirOrder) {
  ConversionFacts facts;
  facts.AddMark("gpt.py:42 type,-,first");
  for (const uint32_t op : {5, 4, 2, 1, 0, 6, 3}) facts.AddCaller(op, "f (gpt.py:42)");
  Step step = StepOf(7);
  step.ops[3].name = Step::kFirstOwnText + 1;
  facts.Tell(step);
  const std::vector<Asks> wanted = {Asks::kType, Asks::kNotTold, Asks::kOrigin, Asks::kNotTold,
                                    Asks::kType, Asks::kNotTold, Asks::kOrigin};
  for (size_t op = 0; op < wanted.size(); ++op) EXPECT_EQ(step.ops[op].asks, wanted[op]) << op;
  for (size_t op = 0; op < wanted.size(); ++op) EXPECT_EQ(step.ops[op].first, op == 2 || op == 6) << op;
}

// if self.weight.dtype in HALF: x = x.to(self.weight.dtype), and behind it x * self.weight in line 42.
TEST(ConversionFactsTest, TheFirstOperatorOfALineIsGivenWhatIsMadeNarrowerBefore) {
  ConversionFacts facts;
  facts.AddMark("norm.py:42 narrowed");
  for (const uint32_t op : {2, 1, 3}) facts.AddCaller(op, "f (norm.py:42)");
  facts.AddCaller(0, "f (norm.py:41)");
  Step step = StepOf(4);
  for (uint32_t op = 0; op < 4; ++op) step.ops[op].begin = 10 * op + 5, step.ops[op].input_count = 1;
  step.operands.resize(1);
  step.modules = {{0, model::kNone, 0, 29}, {0, model::kNone, 30, 90}};
  facts.Tell(step);
  const bool wanted[] = {false, true, false, true};
  for (size_t op = 0; op < 4; ++op) EXPECT_EQ(step.ops[op].narrows, wanted[op]) << op;
}

// Each call of a module asks for the type of its own argument; an inner one of the same class of another.
TEST(ConversionFactsTest, AnArgumentWhoseTypeIsAskedForIsThatOfTheCall) {
  ConversionFacts facts;
  facts.AddAsked(0, 7, "asked gpt.py:42");
  facts.AddAsked(1, 8, "asked gpt.py:42");
  facts.AddAsked(1, 9, "asked gpt.py:43");
  for (const uint32_t op : {0, 1, 2, 3}) facts.AddCaller(op, "f (gpt.py:42)");
  facts.AddCaller(4, "f (gpt.py:44)");
  Step step = StepOf(5);
  for (uint32_t op = 0; op < 5; ++op) step.ops[op].begin = 10 * op + 5;
  step.modules = {{0, model::kNone, 0, 30}, {0, 0, 12, 20}, {0, model::kNone, 32, 90}};
  facts.Tell(step);
  const uint32_t wanted[] = {7, 8, 7, model::kNone, model::kNone};
  for (size_t op = 0; op < 5; ++op) EXPECT_EQ(step.ops[op].asked, wanted[op]) << op;
}

// The model's result, whose type a loss asks for: (labels == classes).to(made.dtype).
TEST(ConversionFactsTest, OutsideOfModulesItIsThatOfAVariable) {
  ConversionFacts facts;
  facts.AddMark("train.py:12 tensor");
  facts.AddCaller(0, "loss (train.py:11)");
  facts.AddAsked(model::kNone, 5, "asked around train.py:12");
  facts.AddCaller(1, "loss (train.py:12)"), facts.AddCaller(2, "loss (train.py:13)");
  Step step = StepOf(3);
  facts.Tell(step);
  const uint32_t wanted[] = {model::kNone, 5, model::kNone};
  for (size_t op = 0; op < 3; ++op) EXPECT_EQ(step.ops[op].asked, wanted[op]) << op;
}

// one_hot(x.argmax(-1)).to(x.dtype), and x.softmax(-1, dtype=torch.float32).to(x.dtype).
TEST(ConversionFactsTest, OfItsOriginOnlyIntegersAreToldTheType) {
  constexpr uint8_t kFloat = 6, kInt64 = 4;
  ConversionFacts facts;
  facts.AddMark("gpt.py:42 origin");
  facts.AddAsked(0, 7, "asked gpt.py:42");
  facts.AddCaller(0, "f (gpt.py:42)"), facts.AddCaller(1, "f (gpt.py:42)");
  Step step = StepOf(2);
  step.operands.resize(2);
  for (uint32_t op = 0; op < 2; ++op) {
    step.ops[op].first_input = op, step.ops[op].input_count = 1, step.ops[op].begin = 10 * op + 5;
    step.operands[op].block = 3, step.operands[op].dtype = op == 0 ? kInt64 : kFloat;
  }
  step.modules = {{0, model::kNone, 0, 30}};
  facts.Tell(step);
  EXPECT_EQ(step.ops[0].asked, 7u);
  EXPECT_EQ(step.ops[1].asked, model::kNone);
}

// Of line 40, which did not run, and line 41, where ~mask came before what is asked.
TEST(ConversionFactsTest, WhatAnOperatorOfAnotherLineIsGivenFirstIsAsked) {
  constexpr uint8_t kFloat = 6, kBool = 11;
  ConversionFacts facts;
  facts.AddMark("gpt.py:46 origin@40@41 again");
  facts.AddCaller(0, "f (gpt.py:41)"), facts.AddCaller(1, "f (gpt.py:41)");
  facts.AddCaller(2, "f (gpt.py:46)");
  Step step = StepOf(3);
  step.operands.resize(3);
  for (uint32_t op = 0; op < 3; ++op) {
    step.ops[op].first_input = op, step.ops[op].input_count = 1;
    step.operands[op].block = 7 + op, step.operands[op].dtype = op == 0 ? kBool : kFloat;
  }
  facts.Tell(step);
  EXPECT_EQ(step.ops[2].asks, Asks::kOrigin);
  EXPECT_TRUE(step.ops[2].again);
  EXPECT_EQ(step.ops[2].asked, 8u);
}

// y.sum() / x.to(y.dtype)
TEST(ConversionFactsTest, WhatAnOperatorOfItsOwnLineIsGivenBeforeItIsAsked) {
  constexpr uint8_t kFloat = 6;
  ConversionFacts facts;
  facts.AddMark("gpt.py:46 tensor@46");
  for (const uint32_t op : {0, 1, 2}) facts.AddCaller(op, "f (gpt.py:46)");
  Step step = StepOf(3);
  step.ops[0].name = step.ops[2].name = Step::kFirstOwnText + 1;
  step.operands.resize(3);
  for (uint32_t op = 0; op < 3; ++op) {
    step.ops[op].first_input = op, step.ops[op].input_count = 1;
    step.operands[op].block = 7 + op, step.operands[op].dtype = kFloat;
  }
  facts.Tell(step);
  EXPECT_EQ(step.ops[1].asks, Asks::kTensor);
  EXPECT_EQ(step.ops[1].asked, 7u);
}

TEST(ConversionFactsTest, ALineThatDidNotRunToItsEndIsNotTold) {
  ConversionFacts facts;
  facts.AddMark("gpt.py:42 type,origin");
  for (const uint32_t op : {0, 1, 2}) facts.AddCaller(op, "f (gpt.py:42)");
  Step step = StepOf(3);
  facts.Tell(step);
  for (const Op& op : step.ops) EXPECT_EQ(op.asks, Asks::kNotTold);
}

TEST(ConversionFactsTest, FilesMayHaveSpacesAndBrackets) {
  ConversionFacts facts;
  facts.AddMark("my models (old)/gpt 2.py:7 type");
  facts.AddCaller(0, "Norm.forward (my models (old)/gpt 2.py:7)");
  Step step = StepOf(1);
  facts.Tell(step);
  EXPECT_EQ(step.ops[0].asks, Asks::kType);
}

TEST(ConversionFactsTest, WhatIsNotUnderstoodIsLeftOut) {
  ConversionFacts facts;
  facts.AddMark("");
  facts.AddMark("type");
  facts.AddMark("gpt.py:1 something new");
  facts.AddMark("gpt.py:1 again");
  facts.AddMark("gpt.py:1 type,more");
  facts.AddMark("gpt.py:1 ,type");
  facts.AddCaller(0, "");
  facts.AddCaller(0, "gpt.py:1");
  facts.AddCaller(0, "f (gpt.py:1");
  facts.AddCaller(0, "f (gpt.py:1)");
  Step step = StepOf(1);
  facts.Tell(step);
  EXPECT_EQ(step.ops[0].asks, Asks::kNotTold);
}

}  // namespace
}  // namespace vramscope::whatif
