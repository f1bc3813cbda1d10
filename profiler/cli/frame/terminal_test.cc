// SPDX-License-Identifier: Apache-2.0
// Oracle: what a reader should see, written out.
#include "profiler/cli/frame/terminal.h"

#include <gtest/gtest.h>

namespace vramscope::cli {
namespace {

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

TEST(TerminalTest, ColorOnlyWhereThereIsColor) {
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

TEST(TerminalTest, ACellPaintedInPartsIsCutToTheSameWidthAsAPlainOne) {
  Terminal terminal;
  terminal.color = true;
  terminal.width = 30;
  Table table({Align::kLeft, Align::kRight});
  table.MayCut(0, terminal);
  const auto add = [&](const std::string& begin, const std::string& middle, const std::string& end) {
    table.AddRow({begin + middle + end, "1"});
    table.AddRow({terminal.Paint(begin, Ink::Bad()) + middle + terminal.Paint(end, Ink::Dim()), "1"});
  };
  add("model.encoder.", "layers.11.", "attention.weight");
  add("nets/encoder/", "layers/11/", "attention.py:35");
  EXPECT_EQ(table.ToString(),
            "  model.e...ttention.weight  1\n"
            "  \x1b[1;31mmodel.e...\x1b[0m\x1b[2mttention.weight\x1b[0m  1\n"
            "  .../11/attention.py:35     1\n"
            "  ...\x1b[1;31m\x1b[0m/11/\x1b[2mattention.py:35\x1b[0m     1\n");
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
