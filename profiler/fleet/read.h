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

// True if the first bytes of the file are those of a trace.
[[nodiscard]] bool IsTrace(const std::string& path);

// The traces that the process has open. If it has none open: those of its nearest ancestor that has some,
// such as its recorder.
[[nodiscard]] std::vector<std::string> TracesOf(uint32_t pid);

// The traces and snapshots in `paths`, recognized by content. Folders are searched recursively. A summary
// without its trace is returned as the trace's path. Sorted by name, without duplicates. Fails if a path does
// not exist or nothing was found.
[[nodiscard]] Result<std::vector<std::string>> FindFiles(const std::vector<std::string>& paths);

struct ReadRanks {
  std::vector<RankSummary> ranks;
  std::vector<std::string> unreadable;  // one sentence for each file that could not be read
  size_t summaries = 0;                 // number of files for which only the summary was read
};
// Reads the ranks of all files. Parts of one recording become one rank (parts.h). `progress` is called before
// each file is read, with its number from 0. If a summary is out of date or damaged, the trace is read
// instead.
[[nodiscard]] ReadRanks ReadFiles(const std::vector<std::string>& files,
                                  const std::function<void(size_t)>& progress = {});

// The ranks of one file.
[[nodiscard]] Result<std::vector<RankSummary>> SummarizeFile(const std::string& path);

// The summary to store next to the trace at `path`. "" if the trace does not belong to a job of several
// ranks: a single trace is read quickly enough without a summary.
[[nodiscard]] Result<std::string> SummaryFor(const std::string& path);

// Returns a function that opens runs for Compare(). It keeps the last run open, because one trace can contain
// all ranks.
[[nodiscard]] OpenSide SideOpener();

}  // namespace vramscope::fleet
