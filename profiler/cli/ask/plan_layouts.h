// SPDX-License-Identifier: Apache-2.0
// Finds the parallel layouts of a job that fit on a GPU, for example 4-way tensor and 2-way pipeline
// parallelism. Each layout is tried in a dry run:
//
//   vramscope plan --fit h100-80gb --world-size 64 --vary tp=--tp --vary pp=--pp -- python train.py
//
// Each --vary names a dimension and the flag of the command that sets the size of the dimension:
//
//   --vary tp=--tp           adds --tp 1, --tp 2, --tp 4 and so on. The product of all such sizes must divide
//                            the number of ranks
//   --vary tp=--tp:2,8       adds --tp 2 or --tp 8, with all values of the other dimensions
//   --vary tp=model.tp=      adds the size to the flag, as one word: model.tp=2
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"

namespace vramscope::cli {

// One --vary option: a dimension of the layout, and the flag that sets the size of the dimension.
struct Varied {
  std::string name;
  std::string flag;
  std::vector<uint64_t> values;  // empty = powers of two
};
[[nodiscard]] Result<Varied> ParseVaried(const std::string& text);

// The size of each dimension, in the order of the --vary options.
using Layout = std::vector<uint64_t>;
inline constexpr size_t kMostLayouts = 64;
struct Layouts {
  std::vector<Layout> all;  // at most kMostLayouts
  uint64_t left_out = 0;    // number of combinations beyond kMostLayouts
};
// Returns all combinations, or kMostLayouts evenly spaced combinations if there are more. `world` is the
// number of ranks; 0 = unknown.
[[nodiscard]] Result<Layouts> LayoutsOf(const std::vector<Varied>& varied, uint64_t world);
// Returns `command` with the flags of this layout appended.
[[nodiscard]] std::vector<std::string> WithLayout(std::vector<std::string> command,
                                                  const std::vector<Varied>& varied, const Layout& layout);

// Runs all layouts and prints which of them fit.
Result<int> PlanLayouts(const Arguments& arguments, const Terminal& terminal);

}  // namespace vramscope::cli
