// SPDX-License-Identifier: Apache-2.0
// The source line of a stack frame, with the lines around it: from disk or the trace (record --embed-source).
//
// The trace's text takes precedence: the file may have changed since. The panel names the source.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/text/source_place.h"
#include "trace_format/result.h"

namespace vramscope::viewer {

using text::SourcePlace;
using text::SourcePlaceOf;

// "vscode://file/src/train.py:32", escaped as links are.
[[nodiscard]] std::string EditorLink(const SourcePlace& place);

struct SourceExcerpt {
  uint32_t first = 1;  // number of the first line
  std::vector<std::string> lines;
  std::string from;  // which text this is: one sentence
};
// The line, and at most `around` lines before and after. Reads at most a file's first MiB. `embedded`: the
// text in the trace. An error explains why there is nothing.
[[nodiscard]] Result<SourceExcerpt> ReadSource(const SourcePlace& place, uint32_t around,
                                               std::optional<std::string_view> embedded = {});

}  // namespace vramscope::viewer
