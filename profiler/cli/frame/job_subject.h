// SPDX-License-Identifier: Apache-2.0
// Finds the rank to report on if the user names several files or a folder.
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

struct RankPlace {
  std::string file;
  std::optional<uint32_t> rank;  // nothing if not recorded
  std::string device;
  bool alone = true;  // no other rank in its file; if false, --rank or --device selects the rank
  std::string name;   // "rank 37 (pp 2, dp 5) on node-09"
};

// True for a job, false for one file.
[[nodiscard]] bool IsJob(const VerbHelp& help, const Arguments& arguments);

// All ranks of the job, by rank. A file that cannot be read is reported on stderr.
struct JobRanks {
  std::vector<RankPlace> ranks;  // not empty
  size_t worst = 0;              // the fullest rank that ran out of memory, else the fullest
};
[[nodiscard]] Result<JobRanks> FindJobRanks(const Arguments& arguments);

}  // namespace vramscope::cli
