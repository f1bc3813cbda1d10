// SPDX-License-Identifier: Apache-2.0
// The curve of a device's allocated bytes over time, exact after every event.
//
// For every 64 changes, the curve stores the total before them and the highest total within them. So the
// value at any event costs at most 64 additions, and a search for a peak skips 64 changes at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/run.h"

namespace vramscope::timeline {

struct Peak {
  model::EventIndex event = 0;  // the first event after which the peak was reached
  uint64_t bytes = 0;
};

class DeviceCurve {
 public:
  // `run` must outlive the curve. O(changes).
  DeviceCurve(const model::Run& run, model::DeviceIndex device);

  // Returns the allocated bytes after event `at`; kNever = at the end of the trace.
  [[nodiscard]] uint64_t AllocatedAfter(model::EventIndex at) const;
  // Returns the part of AllocatedAfter() whose allocations were not recorded (model::Device::unseen).
  [[nodiscard]] uint64_t UnseenAfter(model::EventIndex at) const;
  // Returns the bytes that the allocator has reserved. The result is absent before the allocator's first
  // report.
  [[nodiscard]] std::optional<uint64_t> ReservedAfter(model::EventIndex at) const;
  [[nodiscard]] std::optional<uint64_t> peak_reserved() const;
  // The most bytes that the program had requested at one moment: allocated bytes without the allocator's
  // rounding and slack. Includes blocks whose allocation was not recorded. The value is absent if no block
  // has its requested bytes recorded.
  [[nodiscard]] std::optional<uint64_t> peak_requested() const { return peak_requested_; }

  [[nodiscard]] const Peak& peak() const { return peak_; }
  // Returns the highest value after any event in [begin, end). Bytes that were allocated before `begin` are
  // included. Requires begin < end.
  [[nodiscard]] Peak PeakWithin(model::EventIndex begin, model::EventIndex end) const;

  [[nodiscard]] const model::Device& device() const { return device_; }

 private:
  static constexpr size_t kStride = 64;
  struct Chunk {
    uint64_t before = 0;  // bytes of the blocks before the chunk's first change
    Peak highest;         // highest total after one of the chunk's changes, with unseen bytes
  };

  // The number of changes with event <= at.
  [[nodiscard]] size_t ChangesUntil(model::EventIndex at) const;
  [[nodiscard]] uint64_t BlocksAfter(size_t changes) const;
  void Apply(size_t change, uint64_t& bytes) const;

  const model::Run& run_;
  const model::Device& device_;
  std::vector<Chunk> chunks_;
  Peak peak_;
  std::optional<uint64_t> peak_requested_;
};

}  // namespace vramscope::timeline
