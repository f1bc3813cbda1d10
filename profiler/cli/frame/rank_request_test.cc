// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/frame/rank_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/cli/frame/verb.h"

namespace vramscope::cli {
namespace {

using testing::HasSubstr;

TEST(RankRequestTest, IsANumberARangeOrAWord) {
  EXPECT_TRUE(ParseRanks("7")->one());
  EXPECT_EQ(ParseRanks("4..7")->first, 4u);
  EXPECT_EQ(ParseRanks("4..7")->last, 7u);
  EXPECT_EQ(ParseRanks("all")->last, UINT32_MAX);
  EXPECT_TRUE(ParseRanks("worst")->worst);
  for (const char* wrong : {"", "x", "7..4", "4..", "..4", "-1", "4...7"})
    EXPECT_THAT(ParseRanks(wrong).error().sentence, HasSubstr("--rank needs a number, a range")) << wrong;
}

TEST(RankRequestTest, AFileMayNameARank) {
  EXPECT_EQ(SplitRank("a/run.vms@rank:63"), std::pair(std::string("a/run.vms"), std::string("63")));
  EXPECT_EQ(SplitRank("run.vms"), std::pair(std::string("run.vms"), std::string()));
}

TEST(RankRequestTest, WhatIsPrintedCanBeCaptured) {
  std::string outer, inner;
  {
    const CapturedOutput first(outer);
    Print("a");
    {
      const CapturedOutput second(inner);
      Print("b");
    }
    Print("c");
  }
  EXPECT_EQ(outer, "ac");
  EXPECT_EQ(inner, "b");
}

}  // namespace
}  // namespace vramscope::cli
