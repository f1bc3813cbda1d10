// SPDX-License-Identifier: Apache-2.0
// Finds the rank to report on if the user names several files or a folder.
//
//   vramscope report job            the rank with the highest peak among those that ran out of memory; if no
//                                   rank ran out of memory, the rank with the highest peak
//   vramscope report job --rank 37  the file that has rank 37
//   vramscope frag a.vms b.vms --rank all     every rank
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "trace_format/result.h"

namespace vramscope::cli {

// The file and the device that contain one rank.
struct RankPlace {
  std::string file;
  std::optional<uint32_t> rank;  // absent if the file contains no rank number
  std::string device;
  bool alone = true;  // the file contains only this rank; if false, --rank or --device selects it
  std::string name;   // "rank 37 (pp 2, dp 5) on node-09"
};

// True if the arguments name a job: several files, or a folder. False if they name one file.
[[nodiscard]] bool IsJob(const VerbHelp& help, const Arguments& arguments);

// All ranks of a job, in order of rank. If a file cannot be read, FindJobRanks prints a message on stderr.
struct JobRanks {
  std::vector<RankPlace> ranks;  // not empty
  size_t worst = 0;              // index of the rank that a report shows by default
};
[[nodiscard]] Result<JobRanks> FindJobRanks(const Arguments& arguments);

}  // namespace vramscope::cli
