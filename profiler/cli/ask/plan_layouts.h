// SPDX-License-Identifier: Apache-2.0
// `vramscope plan --fit h100-80gb --world-size 64 --vary tp=--tp --vary pp=--pp -- python train.py`: which
// layouts of a job fit? Each is a dry run of the same command with other flag values. Several run at a time.
//
//   --vary tp=--tp           --tp 1, --tp 2, --tp 4, ... while the product of these sizes divides the ranks
//   --vary tp=--tp:2,8       these values, combined with all values of the other dimensions
//   --vary tp=model.tp=      one word: model.tp=2
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"

namespace vramscope::cli {

// A dimension of the layout, and the flag that sets its size.
struct Varied {
  std::string name;
  std::string flag;
  std::vector<uint64_t> values;  // empty: the powers of two
};
[[nodiscard]] Result<Varied> ParseVaried(const std::string& text);

// A value for each dimension.
using Layout = std::vector<uint64_t>;
// Each layout is a run of the program, so their number is bounded.
inline constexpr size_t kMostLayouts = 64;
struct Layouts {
  std::vector<Layout> all;  // at most kMostLayouts
  uint64_t left_out = 0;
};
// All combinations, in the order of their values; if there are more than kMostLayouts, evenly spaced ones.
// `world`: the number of ranks of the job; 0 = unknown.
[[nodiscard]] Result<Layouts> LayoutsOf(const std::vector<Varied>& varied, uint64_t world);
// The command with the flags of this layout at its end.
[[nodiscard]] std::vector<std::string> WithLayout(std::vector<std::string> command,
                                                  const std::vector<Varied>& varied, const Layout& layout);

// Runs all layouts and prints which of them fit.
Result<int> PlanLayouts(const Arguments& arguments, const Terminal& terminal);

}  // namespace vramscope::cli
