// SPDX-License-Identifier: Apache-2.0
// Parses the source location of a stack frame, such as "forward (/src/model.py:32)" or "/src/model.py:32
// forward".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vramscope::text {

struct SourcePlace {
  std::string function;  // "" = unknown
  std::string path;
  uint32_t line = 0;  // 1-based
};
// Returns nullopt if the frame has no file or no line.
[[nodiscard]] std::optional<SourcePlace> SourcePlaceOf(std::string_view frame);

}  // namespace vramscope::text
