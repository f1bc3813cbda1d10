// SPDX-License-Identifier: Apache-2.0
// `vramscope plan --fit h100-80gb --world-size 64 --vary tp=--tp --vary pp=--pp -- python train.py`: finds
// the layouts of a job that fit. Each layout is a dry run.
//
//   --vary tp=--tp           --tp 1, --tp 2, --tp 4, ... while all such sizes together divide the ranks
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

// A dimension, and the flag that sets its size.
struct Varied {
  std::string name;
  std::string flag;
  std::vector<uint64_t> values;  // empty: the powers of two
};
[[nodiscard]] Result<Varied> ParseVaried(const std::string& text);

// A value for each dimension.
using Layout = std::vector<uint64_t>;
inline constexpr size_t kMostLayouts = 64;
struct Layouts {
  std::vector<Layout> all;  // at most kMostLayouts
  uint64_t left_out = 0;
};
// All combinations, or kMostLayouts evenly spaced ones. `world`: number of ranks; 0 = unknown.
[[nodiscard]] Result<Layouts> LayoutsOf(const std::vector<Varied>& varied, uint64_t world);
// Appends the flags of this layout.
[[nodiscard]] std::vector<std::string> WithLayout(std::vector<std::string> command,
                                                  const std::vector<Varied>& varied, const Layout& layout);

// Runs all layouts and prints which of them fit.
Result<int> PlanLayouts(const Arguments& arguments, const Terminal& terminal);

}  // namespace vramscope::cli
