// SPDX-License-Identifier: Apache-2.0
// Computes the limit for `vramscope plan`: the bytes that PyTorch's allocator may reserve on a device. The
// limit is the device's memory minus the memory outside the allocator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/collector/launch/gpu_table.h"
#include "profiler/model/run.h"
#include "profiler/whatif/step/step.h"
#include "trace_format/result.h"

namespace vramscope::plan {

// Device memory outside PyTorch's caching allocator at the end of the recorded step: CUDA context, libraries,
// other processes. Known only if the trace contains driver calls.
struct Beside {
  uint64_t context_bytes = 0;  // CUDA context and code
  uint64_t other_bytes = 0;
  uint64_t capacity_bytes = 0;  // memory of the recorded device; 0 = unknown

  [[nodiscard]] uint64_t total() const { return context_bytes + other_bytes; }
  // Returns the estimated total on another GPU model.
  [[nodiscard]] uint64_t On(const collector::GpuModel& gpu) const {
    return std::max(context_bytes, gpu.context_bytes) + other_bytes;
  }
};
// Returns the memory outside the allocator, or nullopt if no driver calls were recorded.
std::optional<Beside> BesideOf(const model::Run& run, model::DeviceIndex device, const whatif::Step& step);

struct FitLimit {
  std::string limit_name;        // "24.0 GiB", "24.0 GiB (rtx-4090)"
  uint64_t fit_bytes = 0;        // memory of the device
  std::optional<Beside> beside;  // empty = not recorded, therefore not subtracted
  uint64_t beside_bytes = 0;     // total of `beside` on the target device
  uint64_t reserved_limit = 0;   // fit_bytes minus beside_bytes
};
// `gpu` is the GPU model, if the user specified one.
FitLimit LimitOf(uint64_t fit_bytes, const std::optional<collector::GpuModel>& gpu,
                 const std::optional<Beside>& beside);
// Returns the sentence "471.0 MiB of it are used outside PyTorch's allocator; 329.0 MiB are left for PyTorch
// to reserve."
std::string BesideText(const FitLimit& limit);

// Returns the GPU models that a user can specify. They are the models of the simulated GPU.
Result<std::vector<collector::GpuModel>> GpuTable();
// Returns the GPU model `name` of option --gpu. Not available in a browser.
Result<collector::GpuModel> FindGpu(const std::string& name);

}  // namespace vramscope::plan
