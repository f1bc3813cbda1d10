// SPDX-License-Identifier: Apache-2.0
// Formats the results of several runs of `vramscope dryrun` as one table, in text and in JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/cli/frame/terminal.h"
#include "profiler/experiment/dryrun/dryrun_run.h"

namespace vramscope::cli {

using experiment::DryrunResult;
using experiment::GpuRow;

// For --gpu all: one row per GPU model. `measured` is the run on the largest model.
std::string GpuTableText(const std::vector<GpuRow>& rows, const DryrunResult& measured,
                         const Terminal& terminal);
std::string GpuTableJson(const std::vector<GpuRow>& rows, const DryrunResult& measured);

// For --batch: one row per batch size, smallest first.
struct BatchRow {
  uint64_t batch = 0;
  DryrunResult result;
};
std::string BatchTableText(const std::vector<BatchRow>& rows, const Terminal& terminal);
std::string BatchTableJson(const std::vector<BatchRow>& rows);
// Returns the largest batch size that fits; 0 if none fits.
uint64_t LargestThatFits(const std::vector<BatchRow>& rows);

// For --shuffles: one run per order of the data, the program's own order first. `runs` must not be empty.
std::string ShuffleTableText(const std::vector<DryrunResult>& runs, const Terminal& terminal);
std::string ShuffleTableJson(const std::vector<DryrunResult>& runs);

}  // namespace vramscope::cli
