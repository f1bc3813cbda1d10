// SPDX-License-Identifier: Apache-2.0
// Parses numbers from people and other programs.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace vramscope::text {

// The decimal number that `text` consists of. nullopt if it contains anything else, or if `Number` cannot
// hold it. Integers: no "+", fraction or unit. Doubles: also "1e3", "inf" and "nan".
template <typename Number>
[[nodiscard]] std::optional<Number> ParseNumber(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

}  // namespace vramscope::text
