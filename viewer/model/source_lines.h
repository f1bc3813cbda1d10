// SPDX-License-Identifier: Apache-2.0
// The source line of a stack's frame, with the lines around it: from disk, or out of the trace when it has
// the file (record --embed-source).
//
// Which of the two: a file that has changed since the recording has another line at that number, so what the
// trace has goes before what is on disk now, and it is said which is shown.
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

struct SourceExcerpt {
  uint32_t first = 1;  // number of the first line
  std::vector<std::string> lines;
  std::string from;  // which text this is: a sentence
};
// The line and at most `around` before and after it. At most the first MiB of a file is read. `embedded`: the
// file as the trace has it. An error says why there is nothing to show.
[[nodiscard]] Result<SourceExcerpt> ReadSource(const SourcePlace& place, uint32_t around,
                                               std::optional<std::string_view> embedded = {});

}  // namespace vramscope::viewer
