// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/ask/plan_layouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vramscope::cli {
namespace {

using ::testing::ElementsAre;

std::vector<Varied> AllVaried(const std::vector<std::string>& texts) {
  std::vector<Varied> varied;
  for (const std::string& text : texts) varied.push_back(ParseVaried(text).value());
  return varied;
}

TEST(PlanLayoutsTest, SizesWithoutValuesDivideTheRanksTogether) {
  const auto varied = AllVaried({"tp=--tp", "pp=--pp"});
  EXPECT_THAT(LayoutsOf(varied, 4).value().all,
              ElementsAre(ElementsAre(1, 1), ElementsAre(1, 2), ElementsAre(1, 4), ElementsAre(2, 1),
                          ElementsAre(2, 2), ElementsAre(4, 1)));
  EXPECT_THAT(LayoutsOf(AllVaried({"tp=--tp"}), 12).value().all,
              ElementsAre(ElementsAre(1), ElementsAre(2), ElementsAre(4)));
}

TEST(PlanLayoutsTest, GivenValuesAreCombinedAsTheyAre) {
  const auto varied = AllVaried({"tp=--tp:2,8", "batch=--batch-size:3"});
  EXPECT_THAT(LayoutsOf(varied, 0).value().all, ElementsAre(ElementsAre(2, 3), ElementsAre(8, 3)));
}

TEST(PlanLayoutsTest, OfTooManyLayoutsSomeAreRunAndTheRestIsCounted) {
  const Layouts some = LayoutsOf(AllVaried({"a=--a", "b=--b", "c=--c", "d=--d"}), 1 << 20).value();
  EXPECT_EQ(some.all.size(), kMostLayouts);
  EXPECT_EQ(some.left_out, 10'626 - kMostLayouts);  // C(24, 4): 4 exponents, at most 20 in sum
  EXPECT_THAT(some.all.front(), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(some.all.back(), ElementsAre(1 << 20, 1, 1, 1));
  EXPECT_EQ(LayoutsOf(AllVaried({"tp=--tp"}), 12).value().left_out, 0u);
}

TEST(PlanLayoutsTest, FlagsStandAtTheEndOfTheCommand) {
  const auto varied = AllVaried({"tp=--tp:2", "pp=model.pp=:4"});
  EXPECT_THAT(WithLayout({"python", "train.py"}, varied, {2, 4}),
              ElementsAre("python", "train.py", "--tp", "2", "model.pp=4"));
}

TEST(PlanLayoutsTest, WrongUseIsASentence) {
  for (const char* const wrong : {"", "tp", "=--tp", "tp=", "tp=--tp:", "tp=--tp:1,x", "tp=:1"})
    EXPECT_FALSE(ParseVaried(wrong).ok()) << wrong;
  EXPECT_FALSE(LayoutsOf(AllVaried({"tp=--tp"}), 0).ok());
  EXPECT_FALSE(LayoutsOf(AllVaried({"tp=--tp:1", "tp=--other:1"}), 0).ok());
  EXPECT_FALSE(
      LayoutsOf(AllVaried({"a=--a", "b=--b", "c=--c", "d=--d", "e=--e", "f=--f", "g=--g"}), 1 << 20).ok());
}

}  // namespace
}  // namespace vramscope::cli
