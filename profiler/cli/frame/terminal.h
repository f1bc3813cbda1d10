// SPDX-License-Identifier: Apache-2.0
// Formats numbers, tables, bars and colors for all commands. Only Print() writes to a stream.
//
//   Parameters    2.1 GiB  18 %  ████▊              Table aligns columns by display width, so that colored
//   Activations   6.9 GiB  59 %  ███████████████▍   and non-ASCII texts line up. Bar draws eighths of a cell
//                                                   on a UTF-8 terminal, and '#' elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "trace_format/result.h"

namespace vramscope::cli {

enum class ColorMode { kAuto, kAlways, kNever };

// Reads "auto", "always" or "never".
Result<ColorMode> ParseColorMode(std::string_view text);

// A text color: one with a meaning (such as kWarning), or the color of a category. The text must be
// understandable without the color.
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

// The capabilities of the output terminal or file.
struct Terminal {
  bool color = false;
  bool true_color = false;  // 24-bit colors; otherwise the nearest of 256 colors is used
  bool unicode = false;     // the locale is UTF-8
  int width = 80;           // columns

  // kAuto: color if `fd` is a terminal, TERM is not "dumb" and NO_COLOR is not set (https://no-color.org).
  // Files and pipes are 100 columns wide.
  static Terminal For(int fd, ColorMode mode);

  // Returns `text` unchanged if there is no color.
  [[nodiscard]] std::string Paint(std::string_view text, Ink ink) const;

  // Returns a bar of at most `cells` cells for the ratio part / whole, limited to 0 ... 1. The ratio is 0 if
  // `whole` is 0. The bar is not padded. A ratio above 0 is always visible.
  [[nodiscard]] std::string Bar(uint64_t part, uint64_t whole, int cells) const;
};

using text::DisplayWidth;
using text::FormatBytes;
using text::FormatChange;
using text::FormatCount;
using text::FormatDuration;
using text::FormatMoment;
using text::FormatPercent;
using text::FormatSignedBytes;
using text::FormatTime;
using text::Shorten;
// Returns a name from the program or a file without line breaks, for a table cell or a sentence.
inline std::string Printable(std::string_view text) { return text::OneLine(text); }

// Writes to `stream`. All commands print with this function, except that error messages use Say(). Control
// characters in names never reach the terminal (text::ForTerminal).
void Print(std::string_view text, std::FILE* stream = stdout);

// While this object lives, all output to stdout is appended to `text`.
class CapturedOutput {
 public:
  explicit CapturedOutput(std::string& text);
  ~CapturedOutput();
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;

 private:
  std::string* outer_;
};

enum class Align : uint8_t { kLeft, kRight };

// A table with aligned columns. Cells may contain color codes.
class Table {
 public:
  explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}

  // If the rows are wider than the terminal, ToString() shortens the cells of this column.
  void MayCut(size_t column, const Terminal& terminal);
  // Adds a row. Missing cells are empty. A row must not have more cells than there are columns.
  void AddRow(std::vector<std::string> cells);
  // Returns the table as text: `indent` spaces at the start of each line, two spaces between columns, a
  // newline after each row.
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
