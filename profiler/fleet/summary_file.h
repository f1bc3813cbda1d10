// SPDX-License-Identifier: Apache-2.0
// The summary file: the figures of a run's ranks, in a small file next to its trace: run.vms ->
// run.vms.summary.
//
// Why: `vramscope fleet` reads 512 of these in the time that a few traces would take. The file is JSON with
// one line for each step, under 200 bytes:
//
//   {"vramscope_summary": 1, "trace_bytes": 41298, "ranks": [
//   {"rank": 37, "host": "node-09", ..., "steps": [
//   [1, 120034, 980034, 12884901888, 13958643712, 8589934592],       number, begin, end, peak, reserved, end bytes
//   ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/fleet/rank_summary.h"
#include "trace_format/result.h"

namespace vramscope::fleet {

inline constexpr std::string_view kSummarySuffix = ".summary";

// The text of a summary file. `trace_bytes` is the size of the trace. If the trace has another size later,
// the summary is out of date.
[[nodiscard]] std::string SummaryText(const std::vector<RankSummary>& ranks, uint64_t trace_bytes);

struct SummaryFile {
  uint64_t trace_bytes = 0;
  std::vector<RankSummary> ranks;  // `file` is the trace's path, from_summary is true
};
// Fails if the text is not a summary or is damaged. `file` is the path of its trace.
[[nodiscard]] Result<SummaryFile> ParseSummary(std::string_view text, const std::string& file);

}  // namespace vramscope::fleet
