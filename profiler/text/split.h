// SPDX-License-Identifier: Apache-2.0
// Splits a comma-separated list: "amp,batch" of an option, "8,128" of a shape.
#pragma once

#include <string_view>
#include <vector>

namespace vramscope::text {

// Returns the parts between the commas, as views into `text`. Empty parts are left out: "a,,b," has two
// parts.
[[nodiscard]] inline std::vector<std::string_view> CommaParts(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(part.size() < text.size() ? part.size() + 1 : part.size());
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

}  // namespace vramscope::text
