// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/frame/terminal.h"

#include <fmt/format.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "profiler/text/harmless.h"
#include "trace_format/check.h"

namespace vramscope::cli {
namespace {

constexpr int kWidthOfFiles = 100;

bool LocaleIsUtf8() {
  // The program prints only with fmt, so the character type is the only part of the locale that it uses.
  static const bool utf8 = [] {
    std::setlocale(LC_CTYPE, "");
    return std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  }();
  return utf8;
}

bool EnvironmentSet(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool TerminalWantsColor(int fd) {
  const char* term = std::getenv("TERM");
  return isatty(fd) == 1 && !EnvironmentSet("NO_COLOR") && term != nullptr && std::strcmp(term, "dumb") != 0;
}

int WidthOf(int fd) {
  winsize size{};
  if (isatty(fd) != 1) return kWidthOfFiles;
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return std::max<int>(size.ws_col, 40);
}

// The color cube of the 256-color palette: levels 0, 95, 135, ... 255.
int CubeLevel(uint32_t channel) {
  if (channel < 48) return 0;
  if (channel < 115) return 1;
  return static_cast<int>((channel - 35) / 40);
}

std::string RgbSequence(uint32_t rgb, bool true_color) {
  const uint32_t red = rgb >> 16 & 0xFF;
  const uint32_t green = rgb >> 8 & 0xFF;
  const uint32_t blue = rgb & 0xFF;
  if (true_color) return fmt::format("38;2;{};{};{}", red, green, blue);
  return fmt::format("38;5;{}", 16 + 36 * CubeLevel(red) + 6 * CubeLevel(green) + CubeLevel(blue));
}

std::string Sequence(Ink ink, bool true_color) {
  switch (ink.kind) {
    case Ink::Kind::kPlain:
      return "";
    case Ink::Kind::kBold:
      return "1";
    case Ink::Kind::kDim:
      return "2";
    case Ink::Kind::kGood:
      return "34";
    case Ink::Kind::kWarning:
      return "33";
    case Ink::Kind::kBad:
      return "1;31";
    case Ink::Kind::kRgb:
      return RgbSequence(ink.rgb, true_color);
  }
  return "";
}

}  // namespace

Result<ColorMode> ParseColorMode(std::string_view text) {
  if (text == "auto") return ColorMode::kAuto;
  if (text == "always") return ColorMode::kAlways;
  if (text == "never") return ColorMode::kNever;
  return Error{fmt::format("--color must be auto, always or never, not '{}'.", Printable(text))};
}

Terminal Terminal::For(int fd, ColorMode mode) {
  Terminal terminal;
  terminal.color = mode == ColorMode::kAlways || (mode == ColorMode::kAuto && TerminalWantsColor(fd));
  const char* depth = std::getenv("COLORTERM");
  terminal.true_color =
      depth != nullptr && (std::strcmp(depth, "truecolor") == 0 || std::strcmp(depth, "24bit") == 0);
  terminal.unicode = LocaleIsUtf8();
  terminal.width = WidthOf(fd);
  return terminal;
}

std::string Terminal::Paint(std::string_view text, Ink ink) const {
  const std::string sequence = color ? Sequence(ink, true_color) : "";
  if (sequence.empty() || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", sequence, text);
}

std::string Terminal::Bar(uint64_t part, uint64_t whole, int cells) const {
  if (whole == 0 || part == 0 || cells <= 0) return "";
  const double fraction = std::min(1.0, static_cast<double>(part) / static_cast<double>(whole));
  if (!unicode) {
    const auto full = static_cast<size_t>(std::lround(fraction * cells));
    return std::string(std::max<size_t>(full, 1), '#');
  }
  static constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const long eighths = std::max(1L, std::lround(fraction * cells * 8));
  std::string bar;
  for (long i = 0; i < eighths / 8; ++i) bar += "█";
  return bar + kEighths[static_cast<size_t>(eighths % 8)];
}

namespace {

std::string* captured_text = nullptr;

}  // namespace

void Print(std::string_view text, std::FILE* stream) {
  if (stream == stdout && captured_text != nullptr)
    captured_text->append(text);
  else
    fmt::print(stream, "{}", text::ForTerminal(text));
}

CapturedOutput::CapturedOutput(std::string& text) : outer_(std::exchange(captured_text, &text)) {}
CapturedOutput::~CapturedOutput() { captured_text = outer_; }

void Table::AddRow(std::vector<std::string> cells) {
  VRAMSCOPE_CHECK(cells.size() <= columns_.size());
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::MayCut(size_t column, const Terminal& terminal) {
  cut_ = column;
  terminal_width_ = static_cast<size_t>(terminal.width);
  unicode_ = terminal.unicode;
}

void Table::Cut(std::vector<size_t>& widths, std::vector<std::vector<std::string>>& rows,
                size_t indent) const {
  constexpr size_t kLeast = 20;
  size_t beside = indent;
  for (size_t i = 0; i < widths.size(); ++i)
    if (i != cut_ && widths[i] != 0) beside += widths[i] + 2;
  const size_t room = std::max(terminal_width_ - std::min(beside, terminal_width_), kLeast);
  if (widths[cut_] <= room) return;
  widths[cut_] = room;
  for (auto& row : rows) row[cut_] = Shorten(row[cut_], room, unicode_);
}

std::string Table::ToString(size_t indent) const {
  std::vector<size_t> widths(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  std::vector<std::vector<std::string>> rows = rows_;
  if (cut_ != kNoColumn) Cut(widths, rows, indent);
  std::string text;
  for (const auto& row : rows) {
    std::string line(indent, ' ');
    for (size_t i = 0; i < row.size(); ++i) {
      if (widths[i] == 0) continue;
      const std::string padding(widths[i] - std::min(widths[i], DisplayWidth(row[i])), ' ');
      line += columns_[i] == Align::kRight ? padding + row[i] : row[i] + padding;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace vramscope::cli
