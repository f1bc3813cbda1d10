// SPDX-License-Identifier: Apache-2.0
// Formats the text output of `vramscope frag`.
#pragma once

#include <string>
#include <vector>

#include "profiler/cli/frame/terminal.h"
#include "profiler/fragmentation/answer.h"

namespace vramscope::cli {

[[nodiscard]] std::string FragScreen(const std::string& path, const fragmentation::Subject& subject,
                                     const fragmentation::Answer& answer, const Terminal& terminal);

// The next two tables are also printed by `vramscope oom`.
[[nodiscard]] std::string CauseTable(const fragmentation::Subject& subject,
                                     const fragmentation::Decomposition& causes, const Terminal& terminal);
[[nodiscard]] std::string SegmentTable(const fragmentation::Subject& subject,
                                       const std::vector<fragmentation::SegmentAnswer>& segments,
                                       const Terminal& terminal);

}  // namespace vramscope::cli
