// SPDX-License-Identifier: Apache-2.0
// How every verb writes numbers, tables, bars and colours, so that all of them look like one program.
//
// Why here and not in each verb: units, rounding and alignment are what a reader compares between two
// reports. Text is built first and printed once; nothing here writes to a stream by itself.
//
//   Parameters    2.1 GiB  18 %  ████▊              Table: columns by display width, so painted and non-ASCII
//   Activations   6.9 GiB  59 %  ███████████████▍   text lines up
//                                                   Bar: eighths of a cell on a UTF-8 terminal, '#' elsewhere
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::cli {

enum class ColorMode { kAuto, kAlways, kNever };

// "auto", "always", "never"; anything else is an error with a sentence.
Result<ColorMode> ParseColorMode(std::string_view text);

// A colour with a meaning, or a category's own colour. The meanings keep to hues that colour-blind readers
// tell apart (blue, orange, red by lightness); no text relies on colour alone.
struct Ink {
  enum class Kind : uint8_t { kPlain, kBold, kDim, kGood, kWarning, kBad, kRgb };
  Kind kind = Kind::kPlain;
  uint32_t rgb = 0;  // 0xRRGGBB, for kRgb

  static constexpr Ink Plain() { return {Kind::kPlain}; }
  static constexpr Ink Bold() { return {Kind::kBold}; }
  static constexpr Ink Dim() { return {Kind::kDim}; }
  static constexpr Ink Good() { return {Kind::kGood}; }
  static constexpr Ink Warning() { return {Kind::kWarning}; }
  static constexpr Ink Bad() { return {Kind::kBad}; }
  static constexpr Ink Rgb(uint32_t value) { return {Kind::kRgb, value}; }
};

// What the place that text goes to can show.
struct Terminal {
  bool color = false;
  bool true_color = false;  // 24 bit; else the nearest of the 256 colours
  bool unicode = false;     // the locale is UTF-8
  int width = 80;           // columns

  // For file descriptor `fd`. kAuto: colour when it is a terminal, TERM is not "dumb" and NO_COLOR is not set
  // (https://no-color.org). Output that goes to a file or pipe keeps UTF-8 bars when the locale is UTF-8 and
  // is 100 columns wide.
  static Terminal For(int fd, ColorMode mode);

  // `text` in that colour; unchanged when there is no colour.
  [[nodiscard]] std::string Paint(std::string_view text, Ink ink) const;

  // A bar of at most `cells` cells for part/whole (clamped to 0 ... 1; 0 for whole = 0). Not padded. Anything
  // above 0 shows at least a sliver.
  [[nodiscard]] std::string Bar(uint64_t part, uint64_t whole, int cells) const;
};

// "0 B", "512 B", "4.0 KiB", "11.6 GiB", "2,048 TiB": one decimal, binary units up to TiB.
std::string FormatBytes(uint64_t bytes);
// The same with a sign: "+4.0 KiB", "-1.5 MiB", "0 B".
std::string FormatSignedBytes(int64_t bytes);
// "-12.3 %", "+0.02 %", "no change"; "under 0.01 %" of what is not quite none. "" where there was nothing
// before.
std::string FormatChange(uint64_t before, uint64_t after);
// "1,204,882"
std::string FormatCount(uint64_t count);
// "1 event", "1,204,882 events": the noun in its singular form, `plural` when it is not noun + "s".
std::string FormatCount(uint64_t count, std::string_view noun, std::string_view plural = {});
// "59 %", "0.4 %" below 1, "< 0.1 %" for less than that; "0 %" for nothing and for whole = 0.
std::string FormatPercent(uint64_t part, uint64_t whole);
// "420 ns", "12.3 us", "8.1 ms", "2.45 s", "3 min 07 s", "2 h 05 min".
std::string FormatDuration(uint64_t ns);
// A time of a run: "1.20 s"; "event 7" where times are event numbers (model::Run::counts_events).
std::string FormatTime(uint64_t time_ns, bool counts_events);
// The same within a sentence: "1.20 s after the start"; "event 7".
std::string FormatMoment(uint64_t time_ns, bool counts_events);

// Columns that `text` takes: UTF-8 code points without colour sequences. Wide (CJK) and combining characters
// count as one.
size_t DisplayWidth(std::string_view text);
// Cut to `columns` with an ellipsis in the middle, which keeps both ends of a path or dotted name. For
// unpainted text.
std::string Shorten(std::string_view text, size_t columns, bool unicode);
// A name of a foreign program, or a file's, for a cell or a sentence: text::OneLine.
std::string Printable(std::string_view text);

// Writes to `stream`. All that verbs say goes through here, and all that they say of errors through Say:
// whatever a name carries, the terminal gets our lines, our colours and visible characters alone
// (text::ForTerminal).
void Print(std::string_view text, std::FILE* stream = stdout);

enum class Align : uint8_t { kLeft, kRight };

// Rows of cells, aligned when it is printed. Cells may be painted.
class Table {
 public:
  explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}

  // Where rows are wider than the terminal, the cells of this column are cut, and painted ones keep their
  // colour; where there is room, none is.
  void MayCut(size_t column, const Terminal& terminal);
  // Cells beyond the declared columns are an error of ours; missing cells are empty.
  void AddRow(std::vector<std::string> cells);
  // The text with `indent` spaces in front of each line, two spaces between columns, no spaces at line ends,
  // a newline after each row.
  [[nodiscard]] std::string ToString(size_t indent = 2) const;

 private:
  static constexpr size_t kNoColumn = ~size_t{0};

  void Cut(std::vector<size_t>& widths, std::vector<std::vector<std::string>>& rows, size_t indent) const;

  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
  size_t cut_ = kNoColumn;
  size_t terminal_width_ = 0;
  bool unicode_ = false;
};

}  // namespace vramscope::cli
