// SPDX-License-Identifier: Apache-2.0
// The source line of a stack's frame, with the lines around it, read from disk.
//
// Why not remembered: a file may have changed since the recording; what is shown is what is there now, and
// the panel says so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::viewer {

// Where a frame is. Frames are texts: "forward (/src/model.py:32)", or "/src/model.py:32 forward".
struct SourcePlace {
  std::string function;  // "" = not said
  std::string path;
  uint32_t line = 0;  // from 1
};
// nullopt for frames without a file or a line.
[[nodiscard]] std::optional<SourcePlace> SourcePlaceOf(std::string_view frame);

struct SourceExcerpt {
  uint32_t first = 1;  // number of the first line
  std::vector<std::string> lines;
};
// The line and at most `around` before and after it. At most the first MiB of a file is read. An error says
// why there is nothing to show.
[[nodiscard]] Result<SourceExcerpt> ReadSource(const SourcePlace& place, uint32_t around);

}  // namespace vramscope::viewer
