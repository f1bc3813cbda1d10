// SPDX-License-Identifier: Apache-2.0
// What `vramscope plan` is asked: how much may be taken, and by which changes.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "profiler/cli/arguments.h"
#include "profiler/cli/recorded_step.h"
#include "profiler/collector/simulated_device.h"
#include "profiler/plan/plan.h"

namespace vramscope::cli {

// What the device held beside PyTorch's caching allocator at the end of the recorded step: the CUDA context,
// libraries, other processes. It is part of what must fit, and the trace has it when the driver was hooked.
struct Beside {
  uint64_t context_bytes = 0;  // and code
  uint64_t other_bytes = 0;
  uint64_t capacity_bytes = 0;  // of the recorded device; 0 = not known

  [[nodiscard]] uint64_t total() const { return context_bytes + other_bytes; }
  // On a GPU of another model.
  [[nodiscard]] uint64_t On(const collector::GpuModel& gpu) const {
    return std::max(context_bytes, gpu.context_bytes) + other_bytes;
  }
};

struct PlanRequest {
  std::string path;
  std::vector<std::string> command;            // to verify with; empty = that of the trace
  uint64_t fit_bytes = 0;                      // of the device; 0 = not asked for
  std::optional<collector::GpuModel> fit_gpu;  // when --fit names one
  bool largest_batch = false;
  bool smallest_gpu = false;
  bool verify = false;
  std::string gpu;  // to verify on; empty = like the recorded one
  std::vector<std::string> levers;
  size_t top = 0;
  std::vector<collector::GpuModel> gpus;  // the table; empty when it is not needed
};

// An error is bad usage.
Result<PlanRequest> PlanRequestFrom(const Arguments& arguments);

// Nothing when no call of the driver was recorded.
std::optional<Beside> BesideOf(const RecordedStep& recorded);

}  // namespace vramscope::cli
