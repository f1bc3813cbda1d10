// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/conversion_facts.h"

#include <gtest/gtest.h>

namespace vramscope::whatif {
namespace {

TEST(ConversionFactsTest, JoinsALineWithTheFramesThatRunIt) {
  ConversionFacts facts;
  facts.AddCaller(0, "rotate (models/gpt.py:42)");
  facts.AddMark("models/gpt.py:42 type");
  facts.AddMark("models/gpt.py:43 tensor again");
  facts.AddCaller(1, "rotate.<locals>.<lambda> (models/gpt.py:43)");
  facts.AddCaller(2, "rotate (models/gpt.py:44)");
  std::vector<Op> ops(4);
  facts.Tell(ops);
  EXPECT_EQ(ops[0].asks, Asks::kType) << "whatever of the two came first";
  EXPECT_FALSE(ops[0].again);
  EXPECT_EQ(ops[1].asks, Asks::kTensor);
  EXPECT_TRUE(ops[1].again);
  EXPECT_EQ(ops[2].asks, Asks::kNotTold) << "of its line nothing was told";
  EXPECT_EQ(ops[3].asks, Asks::kNotTold) << "its caller was not told";
}

TEST(ConversionFactsTest, FilesMayHaveSpacesAndBrackets) {
  ConversionFacts facts;
  facts.AddMark("my models (old)/gpt 2.py:7 type");
  facts.AddCaller(0, "Norm.forward (my models (old)/gpt 2.py:7)");
  std::vector<Op> ops(1);
  facts.Tell(ops);
  EXPECT_EQ(ops[0].asks, Asks::kType);
}

TEST(ConversionFactsTest, WhatIsNotUnderstoodIsLeftOut) {
  ConversionFacts facts;
  facts.AddMark("");
  facts.AddMark("type");
  facts.AddMark("gpt.py:1 something new");
  facts.AddMark("gpt.py:1 again");
  facts.AddCaller(0, "");
  facts.AddCaller(0, "gpt.py:1");
  facts.AddCaller(0, "f (gpt.py:1");
  facts.AddCaller(0, "f (gpt.py:1)");
  std::vector<Op> ops(1);
  facts.Tell(ops);
  EXPECT_EQ(ops[0].asks, Asks::kNotTold);
}

}  // namespace
}  // namespace vramscope::whatif
