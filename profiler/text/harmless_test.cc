// SPDX-License-Identifier: Apache-2.0
// Oracles: the Unicode Standard's table of well-formed UTF-8, RFC 4180, and texts known to do harm.
#include "profiler/text/harmless.h"

#include <gtest/gtest.h>

#include <string>

namespace vramscope::text {
namespace {

using namespace std::string_literals;

TEST(CleanTest, LeavesOrdinaryNamesAlone) {
  for (const std::string name : {"", "layers.0.attn.weight", "Größe", "层.权重", "a\xF0\x9F\x98\x80z"})
    EXPECT_EQ(Clean(name), name);
}

TEST(CleanTest, DisarmsControlCharacters) {
  EXPECT_EQ(Clean("\x1b[2Jgone"), "?[2Jgone");
  EXPECT_EQ(Clean("a\nb\tc\rd"), "a b c d");
  EXPECT_EQ(Clean("nul\0in"s), "nul?in");
  EXPECT_EQ(Clean("c1 \xC2\x9B"), "c1 ?");            // CSI in one byte
  EXPECT_EQ(Clean("exe\xE2\x80\xAEgpj"), "exe?gpj");  // right-to-left override
}

TEST(CleanTest, ReplacesBytesThatAreNoUtf8) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(Clean("a\xFF"
                  "b"),
            "a" + mark + "b");
  EXPECT_EQ(Clean("\xC3"), mark);                           // cut off
  EXPECT_EQ(Clean("\xC0\xAF"), mark + mark);                // overlong '/'
  EXPECT_EQ(Clean("\xED\xA0\x80"), mark + mark + mark);     // a surrogate
  EXPECT_EQ(Clean("\xF4\x90\x80\x80").substr(0, 3), mark);  // beyond U+10FFFF
}

TEST(CleanTest, KeepsBothEndsOfAMegabyte) {
  const std::string clean = Clean("begin" + std::string(1 << 20, 'x') + "end");
  EXPECT_LE(clean.size(), kLongest);
  EXPECT_TRUE(clean.starts_with("begin"));
  EXPECT_TRUE(clean.ends_with("end"));
  std::string wide;
  for (int i = 0; i < 5000; ++i) wide += "\xE5\xB1\x82";
  EXPECT_EQ(Clean(wide).find("\xEF\xBF\xBD"), std::string::npos);  // no character is cut in two
}

TEST(OneLineTest, HasNoCharacterThatChangesTheLookOfOthers) {
  for (const std::string unseen : {"\xC2\xAD", "\xD8\x9C", "\xE2\x80\x8B", "\xE2\x80\xAE", "\xE2\x81\xA6",
                                   "\xEF\xBB\xBF", "\xF3\xA0\x81\x81"})
    EXPECT_EQ(OneLine("a" + unseen + "b"), "a?b");
  EXPECT_EQ(OneLine("a\r\nb"), "a  b");
  EXPECT_EQ(OneLine(std::string(5000, 'x')).size(), 5000u);
}

TEST(ForTerminalTest, KeepsOurColorsAndLinesAndNothingElse) {
  EXPECT_EQ(ForTerminal("\x1b[1;31mred\x1b[0m\nnext\tone"), "\x1b[1;31mred\x1b[0m\nnext\tone");
  EXPECT_EQ(ForTerminal("\x1b[2J\x1b]0;title\x07\rover"), "?[2J?]0;title??over");
  EXPECT_EQ(ForTerminal("\x1b["), "?[");
  EXPECT_EQ(ForTerminal("\x1b[1\xFFm\xC2\x9B"), "?[1\xEF\xBF\xBDm?");
}

TEST(EscapedJsonTest, SaysTheSameInCharactersThatMayBePrinted) {
  EXPECT_EQ(EscapedJson("{\n \"a\": \"\xE5\xB1\x82\xE2\x80\xAE\x7F\xF3\xA0\x81\x81\"}"),
            "{\n \"a\": \"\xE5\xB1\x82\\u202e\\u007f\\udb40\\udc41\"}");
}

TEST(XmlTest, HasNoTagAndNoQuote) { EXPECT_EQ(Xml("<b a=\"'&"), "&lt;b a=&quot;&apos;&amp;"); }

TEST(MarkdownTest, HasNoMarkupLinkOrMention) {
  EXPECT_EQ(Markdown("a|b`c"), "a\\|b\\`c");
  EXPECT_EQ(Markdown("<img>@you #1 http://x"), "&lt;img>&#64;you &#35;1 http&#58;//x");
  EXPECT_EQ(Markdown("[x](y)"), "\\[x\\](y)");
}

TEST(CsvTest, QuotesAndDisarmsFormulas) {
  EXPECT_EQ(Csv("plain"), "plain");
  EXPECT_EQ(Csv("a,\"b\""), "\"a,\"\"b\"\"\"");
  EXPECT_EQ(Csv("=1+1"), "'=1+1");
  EXPECT_EQ(Csv("-1"), "-1");
}

TEST(JsonTest, IsOneStringEvenInsideAPage) {
  EXPECT_EQ(Json("a\"\\</script>"), "\"a\\\"\\\\\\u003c/script\\u003e\"");
  EXPECT_EQ(Json("\x01"), "\"?\"");
}

}  // namespace
}  // namespace vramscope::text
