// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace vramscope::text {
namespace {

constexpr char kEscape = '\x1b';

bool IsUtf8Continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Position after the color sequence or code point at `at`.
size_t AfterSequence(std::string_view text, size_t at) {
  return std::min(text.find('m', at), text.size() - 1) + 1;
}
size_t AfterCodePoint(std::string_view text, size_t at) {
  ++at;
  while (at < text.size() && IsUtf8Continuation(text[at])) ++at;
  return at;
}

// Position after `columns` code points of `text` and the color sequences between them.
size_t AdvanceCodePoints(std::string_view text, size_t columns) {
  size_t at = 0;
  while (columns > 0 && at < text.size()) {
    const bool sequence = text[at] == kEscape;
    at = sequence ? AfterSequence(text, at) : AfterCodePoint(text, at);
    if (!sequence) --columns;
  }
  return at;
}

std::string ColorsOf(std::string_view text) {
  std::string colors;
  for (size_t at = text.find(kEscape); at < text.size(); at = text.find(kEscape, at)) {
    const size_t end = AfterSequence(text, at);
    colors += text.substr(at, end - at);
    at = end;
  }
  return colors;
}

std::string WithThousands(const std::string& digits) {
  std::string grouped;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

bool& ThreeDigits() {
  static bool three = false;
  return three;
}

}  // namespace

void UseThreeDigits() { ThreeDigits() = true; }

std::string FormatBytes(uint64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  // 1023.95 would be printed as "1024.0": go up a unit as soon as rounding reaches it.
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  if (ThreeDigits() && value < 1023.5)
    return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, kUnits[unit]);
  if (value < 1023.95) return fmt::format("{:.1f} {}", value, kUnits[unit]);
  return fmt::format("{} {}", FormatCount(static_cast<uint64_t>(value)), kUnits[unit]);
}

std::string FormatSignedBytes(int64_t bytes) {
  if (bytes == 0) return "0 B";
  const uint64_t magnitude =
      bytes < 0 ? uint64_t{0} - static_cast<uint64_t>(bytes) : static_cast<uint64_t>(bytes);
  return (bytes < 0 ? "-" : "+") + FormatBytes(magnitude);
}

std::string FormatChange(uint64_t before, uint64_t after) {
  if (before == 0) return "";
  if (before == after) return "no change";
  const double percent = 100 * (static_cast<double>(after) / static_cast<double>(before) - 1);
  if (std::abs(percent) < 0.005) return "under 0.01 %";
  return std::abs(percent) < 0.05 ? fmt::format("{:+.2f} %", percent) : fmt::format("{:+.1f} %", percent);
}

std::string FormatCount(uint64_t count) { return WithThousands(std::to_string(count)); }

std::string FormatCount(uint64_t count, std::string_view noun, std::string_view plural) {
  if (count == 1) return fmt::format("1 {}", noun);
  return plural.empty() ? fmt::format("{} {}s", FormatCount(count), noun)
                        : fmt::format("{} {}", FormatCount(count), plural);
}

std::string FormatPercent(uint64_t part, uint64_t whole) {
  if (part == 0 || whole == 0) return "0 %";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent < 0.05) return "< 0.1 %";
  if (percent < 0.95) return fmt::format("{:.1f} %", percent);
  return fmt::format("{:.0f} %", percent);
}

std::string FormatTime(uint64_t time_ns, bool counts_events) {
  return counts_events ? fmt::format("event {}", FormatCount(time_ns)) : FormatDuration(time_ns);
}

std::string FormatMoment(uint64_t time_ns, bool counts_events) {
  return FormatTime(time_ns, counts_events) + (counts_events ? "" : " after the start");
}

std::string FormatDuration(uint64_t ns) {
  const double value = static_cast<double>(ns);
  if (ns < 1'000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return fmt::format("{:.1f} us", value / 1e3);
  if (ns < 1'000'000'000) return fmt::format("{:.1f} ms", value / 1e6);
  const uint64_t seconds = ns / 1'000'000'000;
  if (seconds < 60) return fmt::format("{:.2f} s", value / 1e9);
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", WithThousands(std::to_string(seconds / 3600)), seconds / 60 % 60);
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == kEscape) {
      at = AfterSequence(text, at);
    } else {
      if (!IsUtf8Continuation(text[at])) ++width;
      ++at;
    }
  }
  return width;
}

namespace {

// Removes as many of the first folders of the last path in `text` as necessary: "Block.forward
// (…/gpt2.py:35)". All of them if it is still too long.
std::string WithFewerFolders(std::string_view text, size_t columns, std::string_view ellipsis) {
  const size_t last = text.find_last_of("/\\");
  if (last == std::string_view::npos) return std::string(text);
  const size_t begin = text.find_last_of(" (", last) + 1;  // npos + 1 == 0
  const auto from = [&](std::string_view instead, size_t rest) {
    return fmt::format("{}{}{}{}", text.substr(0, begin), instead, ColorsOf(text.substr(begin, rest - begin)),
                       text.substr(rest));
  };
  for (size_t slash = text.find_first_of("/\\", begin + 1); slash <= last;
       slash = text.find_first_of("/\\", slash + 1)) {
    std::string shorter = from(ellipsis, slash);
    if (DisplayWidth(shorter) <= columns) return shorter;
  }
  return from("", last + 1);
}

}  // namespace

std::string Shorten(std::string_view whole, size_t columns, bool unicode) {
  if (DisplayWidth(whole) <= columns) return std::string(whole);
  std::string_view ellipsis = unicode ? "…" : "...";
  const std::string shorter = WithFewerFolders(whole, columns, ellipsis);
  const std::string_view text = shorter;
  const size_t width = DisplayWidth(text);
  if (width <= columns) return shorter;
  if (columns <= DisplayWidth(ellipsis)) ellipsis = "";
  const size_t kept = columns - DisplayWidth(ellipsis);
  // Keeps more of the end: in a path or module name it is more informative than the beginning.
  const size_t front = ellipsis.empty() ? kept : kept / 3;
  const size_t front_end = AdvanceCodePoints(text, front);
  const size_t tail_begin = AdvanceCodePoints(text, width - (kept - front));
  return fmt::format("{}{}{}{}", text.substr(0, front_end), ellipsis,
                     ColorsOf(text.substr(front_end, tail_begin - front_end)), text.substr(tail_begin));
}

}  // namespace vramscope::text
