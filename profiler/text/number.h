// SPDX-License-Identifier: Apache-2.0
// Parses numbers that users typed or other programs wrote.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace vramscope::text {

// Returns the decimal number in `text`. Returns nullopt if `text` contains anything else, or if `Number`
// cannot hold the value. Integers must not have "+", a fraction or a unit. Doubles may be "1e3", "inf" and
// "nan" too.
template <typename Number>
[[nodiscard]] std::optional<Number> ParseNumber(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(number) : std::nullopt;
}

}  // namespace vramscope::text
