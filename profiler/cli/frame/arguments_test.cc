// SPDX-License-Identifier: Apache-2.0
// Oracle: what a user means by the words, written by hand.
#include "profiler/cli/frame/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vramscope::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const VerbHelp kBake = {"bake",
                        "bake a cake",
                        "bake [options] [--] COMMAND...",
                        {{"vramscope bake -o cake", "one"}, {"vramscope bake --hot cake", "two"}},
                        {{"output", 'o', "FILE", "Where it goes."},
                         {"at", '\0', "T", "When.\nAgain for more."},
                         {"hot", '\0', nullptr, "Hot."}}};

std::vector<std::string> Words(std::initializer_list<const char*> words) {
  return {words.begin(), words.end()};
}

TEST(ArgumentsTest, OptionsAreTakenInEveryUsualForm) {
  const auto words = Words({"-o", "a", "--at=1", "--at", "2", "--hot", "run.vms"});
  const auto parsed = Arguments::Parse(kBake, words);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->Get("output"), "a");
  EXPECT_THAT(parsed->All("at"), ElementsAre("1", "2"));
  EXPECT_TRUE(parsed->Has("hot"));
  EXPECT_FALSE(parsed->help_wanted());
  EXPECT_THAT(parsed->positionals(), ElementsAre("run.vms"));
}

TEST(ArgumentsTest, TheCommandKeepsItsOwnOptions) {
  const auto words = Words({"-o", "a", "python", "-o", "b", "--", "--hot"});
  const auto parsed = Arguments::ParseWithCommand(kBake, words);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->Get("output"), "a");
  EXPECT_FALSE(parsed->Has("hot"));
  EXPECT_THAT(parsed->positionals(), ElementsAre("python", "-o", "b", "--", "--hot"));
}

TEST(ArgumentsTest, TheWordAfterTwoDashesBeginsTheCommand) {
  const auto words = Words({"--hot", "--", "--odd-program", "x"});
  const auto parsed = Arguments::ParseWithCommand(kBake, words);
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed->Has("hot"));
  EXPECT_THAT(parsed->positionals(), ElementsAre("--odd-program", "x"));
}

TEST(ArgumentsTest, AMistypedOptionGetsTheNearestOne) {
  const auto words = Words({"--ouput", "a"});
  const auto parsed = Arguments::Parse(kBake, words);
  ASSERT_FALSE(parsed.ok());
  EXPECT_THAT(parsed.error().sentence, HasSubstr("--output"));
}

TEST(ArgumentsTest, AbbreviationsAreNotGuessed) {
  const auto words = Words({"--out", "a"});
  EXPECT_FALSE(Arguments::Parse(kBake, words).ok());
}

TEST(ArgumentsTest, AMissingValueIsSaid) {
  const auto words = Words({"--output"});
  const auto parsed = Arguments::Parse(kBake, words);
  ASSERT_FALSE(parsed.ok());
  EXPECT_THAT(parsed.error().sentence, HasSubstr("--output"));
}

TEST(ArgumentsTest, HelpShowsExamplesBeforeOptions) {
  const std::string help = HelpText(kBake, Terminal{});
  EXPECT_LT(help.find("vramscope bake --hot cake"), help.find("Usage:"));
  EXPECT_LT(help.find("Usage:"), help.find("-o, --output FILE"));
  EXPECT_THAT(help, HasSubstr("--help"));
}

TEST(ArgumentsTest, NearestFindsTypingMistakesAndNothingElse) {
  EXPECT_EQ(Nearest("recrod", {"record", "report", "info"}), "record");
  EXPECT_EQ(Nearest("reprot", {"record", "report", "info"}), "report");
  EXPECT_EQ(Nearest("xyz", {"record", "report"}), std::nullopt);
}

}  // namespace
}  // namespace vramscope::cli
