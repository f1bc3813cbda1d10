// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/amount.h"

#include <charconv>
#include <cmath>
#include <string>

namespace vramscope::whatif {

Result<int64_t> ParseAmount(std::string_view lever, std::string_view things, std::string_view value,
                            int64_t recorded) {
  constexpr double kMost = 1e9;
  const bool factor = !value.empty() && value.back() == 'x';
  const std::string_view number = factor ? value.substr(0, value.size() - 1) : value;
  const std::string option = "--" + std::string(lever);
  double amount = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), amount);
  if (error != std::errc() || end != number.data() + number.size() || !(amount > 0) || amount > kMost)
    return Error{option + " needs a number of " + std::string(things) + ", or a factor such as 0.5x, not \"" +
                 std::string(value) + "\"."};
  const double wanted = factor ? amount * static_cast<double>(recorded) : amount;
  if (wanted < 1 || wanted != std::floor(wanted)) {
    return Error{option + " " + std::string(value) + " is no whole number of " + std::string(things) +
                 ": the recorded " + std::string(lever) + " has " + std::to_string(recorded) + "."};
  }
  return static_cast<int64_t>(wanted);
}

}  // namespace vramscope::whatif
