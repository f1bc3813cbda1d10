// SPDX-License-Identifier: Apache-2.0
// Implements `vramscope dryrun --world-size 512 --ranks distinct`: simulates several ranks of a planned job,
// one after the other. Each simulation runs one process.
//
//   --ranks distinct   one rank of each role. If the program creates a device mesh with pipeline or expert
//                      dimensions, each place in these dimensions is a role. Otherwise the first and the last
//                      rank are run, and ranks between two ranks whose results differ
//   --ranks 0,7,max    the given ranks; max is the last rank
//   --ranks all        every rank, if the job has at most 64 ranks
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/experiment/dryrun/dryrun_run.h"
#include "profiler/fleet/rank_summary.h"

namespace vramscope::cli {

struct RanksWanted {
  bool distinct = false;
  std::vector<uint64_t> ranks;  // ascending, without duplicates; empty if `distinct`
};
[[nodiscard]] Result<RanksWanted> ParseRanksWanted(const std::string& text, uint64_t world);

struct RankRun {
  uint64_t rank = 0;
  fleet::RankSummary summary;
};
// Returns the next rank to run, or nothing if a rank of every role has run, or after 64 runs.
[[nodiscard]] std::optional<uint64_t> NextDistinct(uint64_t world, const std::vector<RankRun>& runs);

Result<int> DryrunRanks(const experiment::DryrunPlan& plan, const std::string& simulated,
                        const Arguments& arguments, const Terminal& terminal);

}  // namespace vramscope::cli
