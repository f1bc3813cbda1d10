// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/source_place.h"

#include <algorithm>
#include <charconv>

namespace vramscope::text {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Splits off "path:32"; `rest` gets the remainder. nullopt if there is no such prefix.
std::optional<SourcePlace> Split(std::string_view text, std::string_view& rest) {
  // The last colon before digits: a path may contain colons, and so may a name after it ("a.cc:3 ns::f").
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

}  // namespace vramscope::text
