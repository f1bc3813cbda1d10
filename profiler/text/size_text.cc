// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/size_text.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

#include "profiler/text/harmless.h"

namespace vramscope::text {
namespace {

constexpr std::string_view kLetters = "kmgt";

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// Bytes of a unit in lower case; 0 = unknown unit.
double UnitBytes(const std::string& unit) {
  if (unit == "b") return 1;
  const size_t power = unit.empty() ? std::string_view::npos : kLetters.find(unit.front());
  if (power == std::string_view::npos) return 0;
  if (unit.substr(1) == "ib") return std::pow(1024.0, static_cast<double>(power + 1));
  return unit.substr(1) == "b" ? std::pow(1000.0, static_cast<double>(power + 1)) : 0;
}

}  // namespace

Result<uint64_t> ParseSize(const std::string& option, const std::string& text) {
  constexpr double kMost = 0x1p63;
  const Error wrong{fmt::format("--{} needs a size like 10GiB or 500MiB, not '{}'.", option, OneLine(text))};
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (parsed.ec != std::errc() || !(number > 0) || !std::isfinite(number)) return wrong;  // "inf" is parsed
  const std::string digits(text.data(), parsed.ptr), unit = Lower({parsed.ptr, end});
  if (unit.empty())
    return Error{fmt::format("--{0} {1}: the unit is missing. Write {1}GiB, {1}MiB, or {1}B for bytes.",
                             option, digits)};
  if (unit.size() == 1 && kLetters.find(unit) != std::string_view::npos) {
    const char letter = static_cast<char>(std::toupper(static_cast<unsigned char>(unit.front())));
    return Error{fmt::format("--{0} {1}{2}: write {1}{2}iB (powers of 1024) or {1}{2}B (powers of 1000).",
                             option, digits, letter)};
  }
  const double bytes = std::round(number * UnitBytes(unit));
  if (bytes < 1 || bytes >= kMost) return wrong;
  return static_cast<uint64_t>(bytes);
}

}  // namespace vramscope::text
