// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/size_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <string_view>

#include "profiler/cli/terminal.h"

namespace vramscope::cli {

Result<uint64_t> ParseSize(const std::string& option, const std::string& text) {
  const Error wrong{fmt::format("--{} is a size like 10GiB or 500MiB, not '{}'.", option, Printable(text))};
  uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || number == 0) return wrong;
  const std::string unit(parsed.ptr, static_cast<size_t>(text.data() + text.size() - parsed.ptr));
  static constexpr std::array<std::string_view, 5> kLetters = {"", "K", "M", "G", "T"};
  for (size_t power = 0; power < kLetters.size(); ++power) {
    const std::string letter(kLetters[power]);
    const bool fits = power == 0 ? unit.empty() || unit == "B"
                                 : unit == letter || unit == letter + "B" || unit == letter + "iB";
    if (!fits) continue;
    if (number > std::numeric_limits<uint64_t>::max() >> (10 * power)) return wrong;
    return number << (10 * power);
  }
  return wrong;
}

}  // namespace vramscope::cli
