// SPDX-License-Identifier: Apache-2.0
// What `vramscope plan` is asked: how much may be taken, and by which changes.
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
  std::vector<std::string> command;            // to verify with; empty = that of the trace, when run_recorded
  uint64_t fit_bytes = 0;                      // of the device; 0 = not asked for
  std::optional<collector::GpuModel> fit_gpu;  // when --fit names one
  bool largest_batch = false;
  bool smallest_gpu = false;
  bool verify = false;
  bool rerun = true;  // each plan, by the program of the trace
  bool run_recorded = false;
  std::string gpu;  // to verify on; empty = like the recorded one
  std::vector<std::string> levers;
  size_t top = 0;
  std::vector<collector::GpuModel> gpus;  // the table; empty when it is not needed
};

// An error is bad usage.
Result<PlanRequest> PlanRequestFrom(const Arguments& arguments);

}  // namespace vramscope::cli
