// SPDX-License-Identifier: Apache-2.0
// The options of `vramscope plan`: the memory limit, and the changes (levers) that the plan may use.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "profiler/plan/fit_limit.h"
#include "profiler/plan/plan.h"

namespace vramscope::cli {

struct PlanRequest {
  std::string path;
  std::vector<std::string> command;            // the command that verifies plans; empty = none given
  uint64_t fit_bytes = 0;                      // memory limit of --fit; 0 = --fit is not given
  std::optional<collector::GpuModel> fit_gpu;  // if --fit names a model
  bool largest_batch = false;
  bool smallest_gpu = false;
  bool verify = false;        // verify plans with a command
  bool rerun = true;          // verify each plan with a re-run of the trace's program (docs/rerun.md)
  bool run_recorded = false;  // verify with the command that the trace contains
  std::string gpu;            // GPU model on which plans are verified; empty = a model like the recorded GPU
  std::vector<std::string> levers;        // names of the changes that a plan may use
  size_t top = 0;                         // number of plans to show
  std::vector<collector::GpuModel> gpus;  // all GPU models; empty if the request does not need them
};

// Returns an error if the options are not valid together.
Result<PlanRequest> PlanRequestFrom(const Arguments& arguments);

}  // namespace vramscope::cli
