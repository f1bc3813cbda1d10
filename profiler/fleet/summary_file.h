// SPDX-License-Identifier: Apache-2.0
// Reads and writes summary files. A summary file contains the figures of the ranks in a trace. It is next to
// the trace: run.vms.summary for run.vms.
//
// The format is JSON, with one line for each step:
//
//   {"vramscope_summary": 1, "trace_bytes": 41298, "ranks": [
//   {"rank": 37, "host": "node-09", ..., "steps": [
//   [1, 120034, 980034, 12884901888, 13958643712, 8589934592],  number, begin, end, peak, reserved, end bytes
//   ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/fleet/rank_summary.h"
#include "trace_format/result.h"

namespace vramscope::fleet {

inline constexpr std::string_view kSummarySuffix = ".summary";

// Returns the text of a summary file. `trace_bytes` is the size of the trace. If the trace has another size
// later, the summary is out of date.
[[nodiscard]] std::string SummaryText(const std::vector<RankSummary>& ranks, uint64_t trace_bytes);

struct SummaryFile {
  uint64_t trace_bytes = 0;
  std::vector<RankSummary> ranks;  // RankSummary::file is the path of the trace
};
// Fails if the text is damaged. `file` is the path of the trace.
[[nodiscard]] Result<SummaryFile> ParseSummary(std::string_view text, const std::string& file);

}  // namespace vramscope::fleet
