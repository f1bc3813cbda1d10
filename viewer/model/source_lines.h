// SPDX-License-Identifier: Apache-2.0
// Reads the source line of a stack frame and the lines around it. The text comes from the trace (record
// --embed-source) or from the file on disk.
//
// The trace's text is preferred, because the file may have changed since the recording. The panel shows which
// text was used.
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

// Returns a link that opens the place in an editor: "vscode://file/src/train.py:32". Special characters are
// escaped.
[[nodiscard]] std::string EditorLink(const SourcePlace& place);

struct SourceExcerpt {
  uint32_t first = 1;  // number of the first line
  std::vector<std::string> lines;
  std::string from;  // one sentence that names the source of the text
};
// Returns the line, with at most `around` lines before and after it. Reads at most the first MiB of a file.
// `embedded` is the text in the trace. An error explains why there is no text.
[[nodiscard]] Result<SourceExcerpt> ReadSource(const SourcePlace& place, uint32_t around,
                                               std::optional<std::string_view> embedded = {});

}  // namespace vramscope::viewer
