// SPDX-License-Identifier: Apache-2.0
// The request of `vramscope plan`: the memory limit, and the levers that may be used.
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
  std::vector<std::string> command;            // run to verify plans; empty = the trace's, if run_recorded
  uint64_t fit_bytes = 0;                      // memory of the device; 0 = not requested
  std::optional<collector::GpuModel> fit_gpu;  // if --fit names a model
  bool largest_batch = false;
  bool smallest_gpu = false;
  bool verify = false;
  bool rerun = true;  // verify each plan with the trace's program
  bool run_recorded = false;
  std::string gpu;  // model to verify on; empty = a model like the recorded GPU
  std::vector<std::string> levers;
  size_t top = 0;
  std::vector<collector::GpuModel> gpus;  // the table; empty if not needed
};

// An error means bad usage.
Result<PlanRequest> PlanRequestFrom(const Arguments& arguments);

}  // namespace vramscope::cli
