// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/program_head.h"

#include <gtest/gtest.h>

namespace vramscope::experiment {
namespace {

constexpr char kWhole[] = R"({"version": 1, "torch": "2.15.0", "python": "3.12.4", "missing": ["a", 3, "b"],
  "step": 6, "batch": 8, "checkpointed": ["layers.0", 1, "layers.1"], "body": [["c", 0, {"version": 9, "step": 7}]]})";

TEST(ProgramHeadTest, ReadsTheHeadAndNotTheBody) {
  const auto head = ReadProgramHead(kWhole);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->version, 1u);
  EXPECT_EQ(head->step, 6u);
  EXPECT_EQ(head->batch, 8u);
  EXPECT_EQ(head->torch, "2.15.0");
  EXPECT_EQ(head->python, "3.12.4");
  EXPECT_EQ(head->missing, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(head->checkpointed, (std::vector<std::string>{"layers.0", "layers.1"}));
  EXPECT_TRUE(head->has_body);
}

TEST(ProgramHeadTest, ForeignTextGivesNothingOrAnEmptyHead) {
  EXPECT_FALSE(ReadProgramHead(""));
  EXPECT_FALSE(ReadProgramHead("[1]"));
  EXPECT_FALSE(ReadProgramHead(R"({"version": 1)"));
  const auto head = ReadProgramHead(R"({"version": "x", "step": -1, "torch": 4, "missing": {}})");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->version, 0u);
  EXPECT_EQ(head->step, 0u);
  EXPECT_FALSE(head->has_body);
}

TEST(ProgramHeadTest, OfSeveralProcessesTheFirstThatCanRunIsTaken) {
  const std::string none = R"({"version": 1, "missing": ["compiled"]})";
  const auto found = ProgramOf({{0, {0, "", "no JSON"}}, {1, {0, "", none}}, {2, {6, "seal", kWhole}}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->process, 2u);
  EXPECT_EQ(found->seal, "seal");
  const auto without = ProgramOf({{0, {0, "", "no JSON"}}, {1, {0, "", none}}});
  ASSERT_TRUE(without);
  EXPECT_EQ(without->head.missing.front(), "compiled");
  EXPECT_FALSE(ProgramOf({}));
}

}  // namespace
}  // namespace vramscope::experiment
