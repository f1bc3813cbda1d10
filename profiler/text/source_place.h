// SPDX-License-Identifier: Apache-2.0
// Where in the source a stack's frame is: frames are texts, "forward (/src/model.py:32)" or
// "/src/model.py:32 forward".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vramscope::text {

struct SourcePlace {
  std::string function;  // "" = not said
  std::string path;
  uint32_t line = 0;  // from 1
};
// nullopt for frames without a file or a line.
[[nodiscard]] std::optional<SourcePlace> SourcePlaceOf(std::string_view frame);

}  // namespace vramscope::text
