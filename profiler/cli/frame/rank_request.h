// SPDX-License-Identifier: Apache-2.0
// The option --rank N|N..M|all|worst, and FILE@rank:N, which selects the rank of one file.
//
//   vramscope report run.vms --rank 4..6    three answers, each below "Rank 4" ...; with --json one document:
//                                           {"schema_version": 1, "ranks": [ANSWER, ANSWER, ANSWER]}
//   vramscope diff run.vms@rank:0 run.vms@rank:63
//   vramscope report job --rank 37          the file of the folder that has rank 37 (job_subject.h)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"
#include "trace_format/result.h"

namespace vramscope::cli {

struct RankRequest {
  uint32_t first = 0;
  uint32_t last = 0;   // last rank, included
  bool worst = false;  // --rank worst: device_choice.h selects the rank
  [[nodiscard]] bool one() const { return first == last && !worst; }
};
[[nodiscard]] Result<RankRequest> ParseRanks(std::string_view text);

// "run.vms@rank:37" -> {"run.vms", "37"}. The second text is "" if `file` has no such suffix, or if a file
// with the whole name exists.
[[nodiscard]] std::pair<std::string, std::string> SplitRank(const std::string& file);

// Runs a verb once for each selected rank. Returns the highest exit code.
Result<int> RunForRanks(const VerbHelp& help, const Arguments& arguments, const Terminal& terminal,
                        Result<int> (*run)(const Arguments& arguments, const Terminal& terminal));

}  // namespace vramscope::cli
