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

// True for a trace, by its first bytes.
[[nodiscard]] bool IsTrace(const std::string& path);

// The traces that the process or one of its ancestors has open: those that its recorder writes.
[[nodiscard]] std::vector<std::string> TracesOf(uint32_t pid);

// The traces and snapshots that `paths` name, told apart by content. Folders are searched with all their
// folders. A summary whose trace is not there stands for it. In order of their names, each once. Fails if a
// path does not exist or nothing was found.
[[nodiscard]] Result<std::vector<std::string>> FindFiles(const std::vector<std::string>& paths);

struct ReadRanks {
  std::vector<RankSummary> ranks;
  std::vector<std::string> unreadable;  // one sentence for each file that could not be read
  size_t summaries = 0;                 // files whose summary was enough
};
// Parts of one recording become one rank (parts.h).
// `progress` is called before each file is read, with its number from 0. A summary that is out of date or
// damaged is ignored, and the trace is read.
[[nodiscard]] ReadRanks ReadFiles(const std::vector<std::string>& files,
                                  const std::function<void(size_t)>& progress = {});

// The ranks of one file.
[[nodiscard]] Result<std::vector<RankSummary>> SummarizeFile(const std::string& path);

// The summary to store next to the trace at `path`. "" if it has no rank of a job of several: then it is read
// whole in a moment, and no second file is wanted.
[[nodiscard]] Result<std::string> SummaryFor(const std::string& path);

// Opens runs for Compare(). Keeps the last one: a trace can hold all ranks.
[[nodiscard]] OpenSide SideOpener();

}  // namespace vramscope::fleet
