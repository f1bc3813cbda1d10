// SPDX-License-Identifier: Apache-2.0
// Oracle: what a reader should see, written by hand.
#include "profiler/cli/terminal.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace vramscope::cli {
namespace {

TEST(TerminalTest, BytesCarryBinaryUnitsAndNeverRoundUpTo1024) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(4096), "4.0 KiB");
  EXPECT_EQ(FormatBytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(FormatBytes(12'455'405'158), "11.6 GiB");
  EXPECT_EQ(FormatBytes(uint64_t{1} << 51), "2,048 TiB");
}

TEST(TerminalTest, SignedBytesShowTheirSignAlsoAtTheLowestNumber) {
  EXPECT_EQ(FormatSignedBytes(0), "0 B");
  EXPECT_EQ(FormatSignedBytes(1536), "+1.5 KiB");
  EXPECT_EQ(FormatSignedBytes(-1536), "-1.5 KiB");
  EXPECT_EQ(FormatSignedBytes(INT64_MIN), "-8,388,608 TiB");
}

TEST(TerminalTest, AChangeThatIsNotNoneDoesNotLookLikeNone) {
  EXPECT_EQ(FormatChange(1000, 698), "-30.2 %");
  EXPECT_EQ(FormatChange(10'000, 10'004), "+0.04 %");
  EXPECT_EQ(FormatChange(10'000, 9'994), "-0.1 %");
  EXPECT_EQ(FormatChange(1'000'000, 999'999), "under 0.01 %");
  EXPECT_EQ(FormatChange(1'000'000, 1'000'000), "no change");
  EXPECT_EQ(FormatChange(0, 512), "");
}

TEST(TerminalTest, CountsAreReadableAndAgreeWithTheirNoun) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1'204'882), "1,204,882");
  EXPECT_EQ(FormatCount(1, "process", "processes"), "1 process");
  EXPECT_EQ(FormatCount(3, "process", "processes"), "3 processes");
  EXPECT_EQ(FormatCount(1000, "event"), "1,000 events");
}

TEST(TerminalTest, SmallSharesAreNotShownAsNothing) {
  EXPECT_EQ(FormatPercent(59, 100), "59 %");
  EXPECT_EQ(FormatPercent(4, 1000), "0.4 %");
  EXPECT_EQ(FormatPercent(1, 1'000'000), "< 0.1 %");
  EXPECT_EQ(FormatPercent(0, 0), "0 %");
}

TEST(TerminalTest, DurationsUseTheUnitThatFits) {
  EXPECT_EQ(FormatTime(420, false), "420 ns");
  EXPECT_EQ(FormatTime(1420, true), "event 1,420");
  EXPECT_EQ(FormatMoment(420, false), "420 ns after the start");
  EXPECT_EQ(FormatMoment(2, true), "event 2");
  EXPECT_EQ(FormatDuration(420), "420 ns");
  EXPECT_EQ(FormatDuration(8'100'000), "8.1 ms");
  EXPECT_EQ(FormatDuration(2'450'000'000), "2.45 s");
  EXPECT_EQ(FormatDuration(187'000'000'000), "3 min 07 s");
  EXPECT_EQ(FormatDuration(7'500'000'000'000), "2 h 05 min");
}

TEST(TerminalTest, BarsFillEighthsAndNeverHideSomethingSmall) {
  Terminal terminal;
  EXPECT_EQ(terminal.Bar(1, 2, 10), "#####");
  EXPECT_EQ(terminal.Bar(1, 1000, 10), "#");
  terminal.unicode = true;
  EXPECT_EQ(terminal.Bar(9, 16, 2), "█▏");
  EXPECT_EQ(terminal.Bar(3, 1, 2), "██");
  EXPECT_EQ(terminal.Bar(1, 1'000'000, 10), "▏");
  EXPECT_EQ(terminal.Bar(0, 10, 10), "");
  EXPECT_EQ(terminal.Bar(1, 0, 10), "");
}

TEST(TerminalTest, ColourOnlyWhereThereIsColour) {
  Terminal terminal;
  EXPECT_EQ(terminal.Paint("peak", Ink::Bold()), "peak");
  terminal.color = true;
  EXPECT_EQ(terminal.Paint("peak", Ink::Bold()), "\x1b[1mpeak\x1b[0m");
  EXPECT_EQ(terminal.Paint("peak", Ink::Rgb(0xFF0000)), "\x1b[38;5;196mpeak\x1b[0m");
  terminal.true_color = true;
  EXPECT_EQ(terminal.Paint("peak", Ink::Rgb(0x4477AA)), "\x1b[38;2;68;119;170mpeak\x1b[0m");
  EXPECT_FALSE(ParseColorMode("sometimes").ok());
}

TEST(TerminalTest, TablesLineUpByWhatIsSeenNotByBytes) {
  Terminal terminal;
  terminal.color = true;
  Table table({Align::kLeft, Align::kRight});
  table.AddRow({terminal.Paint("été", Ink::Bold()), "1"});
  table.AddRow({"plain", "22"});
  EXPECT_EQ(table.ToString(1), " \x1b[1mété\x1b[0m     1\n plain  22\n");
}

TEST(TerminalTest, LongNamesKeepBothEnds) {
  EXPECT_EQ(Shorten("transformer.blocks.11.mlp.fc1.weight", 16, true), "trans…fc1.weight");
  EXPECT_EQ(Shorten("short", 16, true), "short");
  EXPECT_EQ(DisplayWidth(Shorten("äöüäöüäöüäöü", 7, false)), 7U);
}

TEST(TerminalTest, ATableIsCutOnlyWhereTheTerminalHasNoRoom) {
  Terminal terminal;
  terminal.unicode = terminal.color = true;
  terminal.width = 42;
  const std::string name = "transformer.blocks.11.mlp.fc1.weight";
  Table table({Align::kLeft, Align::kRight});
  table.MayCut(0, terminal);
  table.AddRow({name, "1"});
  EXPECT_EQ(table.ToString(), "  " + name + "  1\n");
  table.AddRow({terminal.Paint(name, Ink::Bold()), "22 MiB"});
  EXPECT_EQ(table.ToString(),
            "  transforme…cks.11.mlp.fc1.weight       1\n  \x1b[1mtransforme…cks.11.mlp.fc1.weight\x1b[0m  "
            "22 MiB\n");
}

TEST(TerminalTest, ForeignTextCannotCommandTheTerminal) {
  EXPECT_EQ(Printable("a\x1b[2Jb\n\xC2\x9B"
                      "c"),
            "a?[2Jb ?c");
  EXPECT_EQ(Printable("naïve"), "naïve");
  EXPECT_EQ(Printable("exe\xE2\x80\xAEgpj"), "exe?gpj");
}

}  // namespace
}  // namespace vramscope::cli
