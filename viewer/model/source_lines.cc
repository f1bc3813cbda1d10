// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/source_lines.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "profiler/cli/terminal.h"

namespace vramscope::viewer {
namespace {

constexpr size_t kMostBytes = 1 << 20;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "path:32" and what stands behind it; nullopt where there is no such thing.
std::optional<SourcePlace> Split(std::string_view text, std::string_view& rest) {
  // The last colon before digits: a path may have colons itself, a name behind it may too ("a.cc:3 ns::f").
  for (size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
    size_t end = colon + 1;
    while (end < text.size() && IsDigit(text[end])) ++end;
    if (colon == 0 || end == colon + 1 || (end < text.size() && text[end] != ' ')) continue;
    SourcePlace place;
    const auto parsed = std::from_chars(text.data() + colon + 1, text.data() + end, place.line);
    if (parsed.ec != std::errc() || place.line == 0) return std::nullopt;
    place.path = text.substr(0, colon);
    rest = text.substr(std::min(end + 1, text.size()));
    return place;
  }
  return std::nullopt;
}

}  // namespace

std::optional<SourcePlace> SourcePlaceOf(std::string_view frame) {
  std::string_view rest;
  const size_t open = frame.rfind(" (");
  if (open != std::string_view::npos && frame.back() == ')') {
    auto place = Split(frame.substr(open + 2, frame.size() - open - 3), rest);
    if (place) place->function = frame.substr(0, open);
    return place;
  }
  auto place = Split(frame, rest);
  if (place) place->function = rest;
  return place;
}

Result<SourceExcerpt> ReadSource(const SourcePlace& place, uint32_t around) {
  const std::string name = cli::Printable(place.path);
  // A pipe or a device would wait for ever; only a file has lines.
  struct stat facts = {};
  if (stat(place.path.c_str(), &facts) != 0) return Error{fmt::format("{} is not on this machine.", name)};
  if (!S_ISREG(facts.st_mode)) return Error{fmt::format("{} is not a file.", name)};
  std::ifstream file(place.path, std::ios::binary);
  if (!file) return Error{fmt::format("{} cannot be read.", name)};
  std::string text(std::min(static_cast<size_t>(facts.st_size), kMostBytes), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));

  SourceExcerpt excerpt;
  excerpt.first = place.line > around ? place.line - around : 1;
  uint32_t number = 1;
  size_t at = 0;
  for (; at < text.size() && number <= uint64_t{place.line} + around; ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (number >= excerpt.first) excerpt.lines.push_back(cli::Printable(text.substr(at, end - at)));
    at = end + 1;
  }
  if (number <= place.line) {
    const bool cut = static_cast<size_t>(facts.st_size) > kMostBytes;
    return Error{
        cut ? fmt::format("Line {} of {} lies behind its first MiB, which is what is read.", place.line, name)
            : fmt::format("{} has {} today; it has changed since the recording.", name,
                          cli::FormatCount(number - 1, "line"))};
  }
  return excerpt;
}

}  // namespace vramscope::viewer
