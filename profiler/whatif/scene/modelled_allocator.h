// SPDX-License-Identifier: Apache-2.0
// PyTorch's allocator as it would stand before the recorded program begins: what every replay starts from.
#pragma once

#include <string>

#include "profiler/allocator/device_allocator.h"
#include "profiler/allocator/modelled_driver.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Of the release that the step was recorded with. An error is one sentence: settings that it refuses, or a
// backend without segments.
[[nodiscard]] inline Result<allocator::Settings> SettingsFor(const Step& step, const std::string& text) {
  Result<allocator::Settings> settings =
      allocator::ParseSettings(text, allocator::ReleaseOf(step.torch_version));
  if (settings.ok() && settings->cuda_malloc_async)
    return Error{
        "backend:cudaMallocAsync has no segments; the driver manages its memory, which is not modeled."};
  return settings;
}

// Empty, with the streams of the run and those that levers added. Neither copied nor moved.
class ModelledAllocator {
 public:
  ModelledAllocator(const Step& step, const allocator::Settings& settings)
      : model_(allocator::ReleaseOf(step.torch_version), settings, kDeviceBytes, driver_) {
    for (size_t i = 1; i < step.run->streams.size(); ++i) (void)model_.AddStream(step.run->streams[i]);
    for (uint64_t i = 0; i < step.added_streams; ++i) (void)model_.AddStream(~i);
  }
  ModelledAllocator(const ModelledAllocator&) = delete;  // the model points to its driver
  ModelledAllocator& operator=(const ModelledAllocator&) = delete;

  [[nodiscard]] allocator::DeviceAllocator& model() { return model_; }

 private:
  static constexpr uint64_t kDeviceBytes =
      80 * allocator::kGiB;  // only the address range of expandable segments depends on it

  allocator::ModelledDriver driver_;
  allocator::DeviceAllocator model_;
};

// What was reserved when most was allocated: PyTorch's counters keep both peaks, which need not be at one
// moment.
class ReservedThen {
 public:
  explicit ReservedThen(const allocator::Statistics& statistics) : statistics_(statistics) {}

  // After each allocation.
  void Look() {
    const uint64_t peak = statistics_.all.allocated_bytes.peak;
    if (peak == peak_) return;
    peak_ = peak;
    bytes_ = statistics_.all.reserved_bytes.current;
  }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

 private:
  const allocator::Statistics& statistics_;
  uint64_t peak_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace vramscope::whatif
