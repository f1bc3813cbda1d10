// SPDX-License-Identifier: Apache-2.0
// The combined answer of several runs of `vramscope dryrun`, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/cli/frame/terminal.h"
#include "profiler/experiment/dryrun/dryrun_run.h"

namespace vramscope::cli {

using experiment::DryrunResult;
using experiment::GpuRow;

// --gpu all: one row per model. `measured`: the run on the largest model.
std::string GpuTableText(const std::vector<GpuRow>& rows, const DryrunResult& measured,
                         const Terminal& terminal);
std::string GpuTableJson(const std::vector<GpuRow>& rows, const DryrunResult& measured);

// --batch: one row per size, smallest first.
struct BatchRow {
  uint64_t batch = 0;
  DryrunResult result;
};
std::string BatchTableText(const std::vector<BatchRow>& rows, const Terminal& terminal);
std::string BatchTableJson(const std::vector<BatchRow>& rows);
// The largest size that fits; 0 = none.
uint64_t LargestThatFits(const std::vector<BatchRow>& rows);

// --shuffles: one run per order of the data, the program's own order first. At least one.
std::string ShuffleTableText(const std::vector<DryrunResult>& runs, const Terminal& terminal);
std::string ShuffleTableJson(const std::vector<DryrunResult>& runs);

}  // namespace vramscope::cli
