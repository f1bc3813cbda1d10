// SPDX-License-Identifier: Apache-2.0
// Texts generated from the tables of --help. tests/command_line checks them with the real shells and man, if
// these are installed; here is what must hold on every machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/cli/frame/completion_script.h"
#include "profiler/cli/frame/man_page.h"
#include "profiler/cli/frame/option_value.h"

namespace vramscope::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const VerbHelp& BakeHelp() {
  static const VerbHelp help = {"bake",
                                "bake a cake, it's good",
                                "bake [options] [--] COMMAND...",
                                {{"vramscope bake -- cake --hot", "a \\ in the meaning"}},
                                {{"output", 'o', "FILE", "Write it there.\n.In two lines: [really]."},
                                 {"heat", '\0', "low|high|N", "How hot."}}};
  return help;
}
constexpr Verb kBakeVerb = {"bake", "bakes", nullptr, BakeHelp};

TEST(OptionValueTest, AreReadOffTheHelp) {
  EXPECT_EQ(CompletedValue({"x", '\0', "FILE", ""}).kind, Completed::Kind::kFile);
  EXPECT_EQ(CompletedValue({"x", '\0', "FOLDER", ""}).kind, Completed::Kind::kFolder);
  EXPECT_THAT(CompletedValue({"x", '\0', "auto|cpu|N", ""}).words, ElementsAre("auto", "cpu"));
  EXPECT_EQ(CompletedValue({"x", '\0', "10GiB", ""}).kind, Completed::Kind::kOther);
  EXPECT_EQ(OperandsOf(BakeHelp()), Operands::kCommand);
  EXPECT_EQ(OperandsOf(DiffHelp()), Operands::kFiles);
  EXPECT_EQ(OperandsOf(StopHelp()), Operands::kNone);
  EXPECT_THAT(OperandWords(CompletionHelp()), ElementsAre("bash", "zsh", "fish"));
}

TEST(EveryVerbTest, HasAnExampleOfItselfAndOptionsThatAreAscii) {
  for (const Verb& verb : Verbs()) {
    const VerbHelp& help = verb.help();
    EXPECT_STREQ(help.verb, verb.name);
    ASSERT_FALSE(help.examples.empty()) << verb.name;
    bool itself = false;
    for (const Example& example : help.examples)
      itself |= std::string(example.command).find(std::string("vramscope ") + verb.name) != std::string::npos;
    EXPECT_TRUE(itself) << verb.name;
    for (const char c : ManPage(verb, "1.0"))
      ASSERT_TRUE(c == '\n' || (c >= ' ' && c < 127)) << verb.name;  // other characters need escapes
  }
}

TEST(ManPageTest, NothingInATextIsARequestOrAnEscape) {
  const std::string page = ManPage(kBakeVerb, "1.0");
  EXPECT_THAT(page, HasSubstr(".TH VRAMSCOPE\\-BAKE 1"));
  EXPECT_THAT(page, HasSubstr("\n\\&.In two lines"));
  EXPECT_THAT(page, HasSubstr("a \\e in the meaning"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR\n"));
  EXPECT_THAT(page, HasSubstr("bake a cake, it\\(aqs good"));
}

TEST(CompletionTest, QuotesAreThoseOfTheShell) {
  EXPECT_THAT(ZshCompletion({&kBakeVerb, 1}), HasSubstr("'bake:bake a cake, it'\\''s good'"));
  EXPECT_THAT(FishCompletion({&kBakeVerb, 1}), HasSubstr("-d 'bake a cake, it\\'s good'"));
  EXPECT_THAT(FishCompletion({&kBakeVerb, 1}), HasSubstr("-l heat -x -a 'low high'"));
  EXPECT_THAT(BashCompletion({&kBakeVerb, 1}), HasSubstr("bake/--output | bake/-o) _vramscope_files -f ;;"));
}

}  // namespace
}  // namespace vramscope::cli
