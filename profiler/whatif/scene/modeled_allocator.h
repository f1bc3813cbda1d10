// SPDX-License-Identifier: Apache-2.0
// A model of PyTorch's caching allocator, in the state before the recorded program began.
#pragma once

#include <string>

#include "profiler/allocator/device_allocator.h"
#include "profiler/allocator/modeled_driver.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Parses allocator settings for the PyTorch release of the recording. Fails if the release rejects the
// settings, or if they select cudaMallocAsync, which has no segments.
[[nodiscard]] inline Result<allocator::Settings> SettingsFor(const Step& step, const std::string& text) {
  Result<allocator::Settings> settings =
      allocator::ParseSettings(text, allocator::ReleaseOf(step.torch_version));
  if (settings.ok() && settings->cuda_malloc_async)
    return Error{
        "backend:cudaMallocAsync has no segments; the driver manages its memory, which is not modeled."};
  return settings;
}

// An empty allocator with the streams of the run and the streams that levers add. Cannot be copied or moved.
class ModeledAllocator {
 public:
  ModeledAllocator(const Step& step, const allocator::Settings& settings)
      : model_(allocator::ReleaseOf(step.torch_version), settings, kDeviceBytes, driver_) {
    for (size_t i = 1; i < step.run->streams.size(); ++i) (void)model_.AddStream(step.run->streams[i]);
    for (uint64_t i = 0; i < step.added_streams; ++i) (void)model_.AddStream(~i);
  }
  ModeledAllocator(const ModeledAllocator&) = delete;  // the model points to its driver
  ModeledAllocator& operator=(const ModeledAllocator&) = delete;

  [[nodiscard]] allocator::DeviceAllocator& model() { return model_; }

 private:
  static constexpr uint64_t kDeviceBytes =
      80 * allocator::kGiB;  // affects only the address range of expandable segments

  allocator::ModeledDriver driver_;
  allocator::DeviceAllocator model_;
};

// Tracks the reserved bytes at the moment with the most allocated bytes. PyTorch's counters have both peaks,
// but not the time of each peak.
class ReservedThen {
 public:
  explicit ReservedThen(const allocator::Statistics& statistics) : statistics_(statistics) {}

  // Call after each allocation.
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
