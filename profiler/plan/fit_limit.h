// SPDX-License-Identifier: Apache-2.0
// How much memory PyTorch's allocator can have on a device that a program is to fit on, for whoever looks for
// plans: the device's memory, less what is taken beside the allocator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/collector/launch/simulated_device.h"
#include "profiler/model/run.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::plan {

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
// Nothing when no call of the driver was recorded.
std::optional<Beside> BesideOf(const model::Run& run, model::DeviceIndex device, const whatif::Step& step);

struct FitLimit {
  std::string limit_name;        // "24.0 GiB", "24.0 GiB (rtx-4090)"
  uint64_t fit_bytes = 0;        // of the device
  std::optional<Beside> beside;  // nothing: the trace does not have it, and it is not counted
  uint64_t beside_bytes = 0;     // on that device
  uint64_t reserved_limit = 0;   // what is left
};
// `gpu`: when a model was named.
FitLimit LimitOf(uint64_t fit_bytes, const std::optional<collector::GpuModel>& gpu,
                 const std::optional<Beside>& beside);
// "471.0 MiB of it are used outside PyTorch's allocator; 329.0 MiB are left for PyTorch to reserve."
std::string BesideText(const FitLimit& limit);

// The models that a program may be asked to fit on, as the simulated GPU has them.
Result<std::vector<collector::GpuModel>> GpuTable();

}  // namespace vramscope::plan
