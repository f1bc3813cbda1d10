// SPDX-License-Identifier: Apache-2.0
// `vramscope dryrun --world-size 512 --ranks distinct`: simulates several ranks of a planned job, each alone.
//
//   --ranks distinct   one rank of each role: each place in the pipeline and among the experts, if the
//                      program makes a mesh with such dimensions. Otherwise the first and the last rank, and
//                      ranks between them where neighbors differ
//   --ranks 0,7,max    these ranks; max is the last rank
//   --ranks all
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
  std::vector<uint64_t> ranks;  // in order, each once; empty if `distinct`
};
[[nodiscard]] Result<RanksWanted> ParseRanksWanted(const std::string& text, uint64_t world);

struct RankRun {
  uint64_t rank = 0;
  fleet::RankSummary summary;
};
// The next rank to run. Nothing if a rank of every role has run, or after 64 runs.
[[nodiscard]] std::optional<uint64_t> NextDistinct(uint64_t world, const std::vector<RankRun>& runs);

Result<int> DryrunRanks(const experiment::DryrunPlan& plan, const std::string& simulated,
                        const Arguments& arguments, const Terminal& terminal);

}  // namespace vramscope::cli
