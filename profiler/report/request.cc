// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/request.h"

#include "profiler/text/number.h"

namespace vramscope::report {
Result<std::pair<uint32_t, uint32_t>> ParseStepRange(std::string_view text) {
  const size_t colon = text.find(':');
  const auto first = text::ParseNumber<uint32_t>(text.substr(0, colon));
  const auto last =
      colon == std::string_view::npos ? first : text::ParseNumber<uint32_t>(text.substr(colon + 1));
  if (first.has_value() && last.has_value() && *first >= 1 && *first <= *last)
    return std::pair(*first, *last);
  return Error{"\"" + std::string(text) + "\" is not a range of steps; use 3 or 2:5."};
}

}  // namespace vramscope::report
