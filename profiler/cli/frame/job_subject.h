// SPDX-License-Identifier: Apache-2.0
// Finds the rank that a verb reports on if the user names several files, or a folder of files.
//
//   vramscope report job            the fullest of the ranks that ran out of memory, else the fullest
//   vramscope report job --rank 37  the file that has rank 37
//   vramscope frag a.vms b.vms --rank all
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "trace_format/result.h"

namespace vramscope::cli {

// A rank, and the file that has it.
struct RankPlace {
  std::string file;
  std::optional<uint32_t> rank;  // nothing if no file of the job names it
  std::string device;
  bool alone = true;  // no other rank in its file; if false, --rank or --device selects it
  std::string name;   // "rank 37 (pp 2, dp 5) on node-09"
};

// True if the positionals of a verb are a job and not one file.
[[nodiscard]] bool IsJob(const VerbHelp& help, const Arguments& arguments);

// All ranks of the job, by rank. For a file that cannot be read, one sentence is printed to stderr.
struct JobRanks {
  std::vector<RankPlace> ranks;  // not empty
  size_t worst = 0;              // the fullest of the ranks that ran out of memory, else the fullest
};
[[nodiscard]] Result<JobRanks> FindJobRanks(const Arguments& arguments);

}  // namespace vramscope::cli
