// SPDX-License-Identifier: Apache-2.0
// Finds and reads the files of a job: traces, their summaries, and PyTorch snapshots, in any mixture.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "profiler/fleet/job.h"
#include "profiler/fleet/rank_summary.h"
#include "trace_format/result.h"

namespace vramscope::fleet {

[[nodiscard]] bool IsTrace(const std::string& path);

// Returns the traces that the process has open. If it has none open, returns those of its nearest ancestor
// that has traces open.
[[nodiscard]] std::vector<std::string> TracesOf(uint32_t pid);

// Returns the files in `paths`, and the traces and snapshots in the folders of `paths`. Folders are searched
// recursively. Traces and snapshots are recognized by their content, traces also by ".vms". For a summary,
// returns the path of its trace. The result is sorted by name, without duplicates. Returns an error if a path
// does not exist or if no file was found.
[[nodiscard]] Result<std::vector<std::string>> FindFiles(const std::vector<std::string>& paths);

struct ReadRanks {
  std::vector<RankSummary> ranks;
  std::vector<std::string> unreadable;  // one sentence for each file
  size_t summaries = 0;                 // files for which only the summary was read
};
// Reads the ranks of all files and joins parts (parts.h). Reads the summary of a trace if it has one that is
// neither out of date nor damaged; otherwise reads the trace. Calls `progress` before each file, with the
// file's 0-based number.
[[nodiscard]] ReadRanks ReadFiles(const std::vector<std::string>& files,
                                  const std::function<void(size_t)>& progress = {});

// Returns the ranks of one file.
[[nodiscard]] Result<std::vector<RankSummary>> SummarizeFile(const std::string& path);

// Returns the text of the summary that is stored next to the trace at `path`; "" if the job has only one
// rank.
[[nodiscard]] Result<std::string> SummaryFor(const std::string& path);

// Returns the function that ExplainHere() needs to open a rank's file. The function keeps the run that it
// opened last.
[[nodiscard]] OpenSide SideOpener();

}  // namespace vramscope::fleet
