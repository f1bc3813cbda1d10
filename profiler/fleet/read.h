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

// The traces that the process has open, or else those of its nearest ancestor.
[[nodiscard]] std::vector<std::string> TracesOf(uint32_t pid);

// The traces and snapshots in `paths`, recognized by content. Folders are searched recursively. A summary
// counts as its trace. Sorted by name, without duplicates. Fails if a path does not exist or nothing was
// found.
[[nodiscard]] Result<std::vector<std::string>> FindFiles(const std::vector<std::string>& paths);

struct ReadRanks {
  std::vector<RankSummary> ranks;
  std::vector<std::string> unreadable;  // one sentence for each file
  size_t summaries = 0;                 // files for which only the summary was read
};
// Reads the ranks of all files and joins parts (parts.h). `progress` is called before each file, with its
// 0-based number. If a summary is out of date or damaged, the trace is read.
[[nodiscard]] ReadRanks ReadFiles(const std::vector<std::string>& files,
                                  const std::function<void(size_t)>& progress = {});

// The ranks of one file.
[[nodiscard]] Result<std::vector<RankSummary>> SummarizeFile(const std::string& path);

// The summary to store next to the trace at `path`. "" for a job of one rank.
[[nodiscard]] Result<std::string> SummaryFor(const std::string& path);

// For ExplainHere(). Keeps the run that was opened last.
[[nodiscard]] OpenSide SideOpener();

}  // namespace vramscope::fleet
