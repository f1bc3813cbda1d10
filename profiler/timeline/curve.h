// SPDX-License-Identifier: Apache-2.0
// A device's allocated bytes, exact after every event.
//
// One total is kept every 64 changes, with the highest total in between. Any moment costs at most 64
// additions. A peak search skips from total to total.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/model/run.h"

namespace vramscope::timeline {

struct Peak {
  model::EventIndex event = 0;  // the first at which the peak was reached
  uint64_t bytes = 0;
};

class DeviceCurve {
 public:
  // `run` must outlive the curve. O(changes).
  DeviceCurve(const model::Run& run, model::DeviceIndex device);

  // Allocated bytes in the state after event `at` (kNever: at the end of the trace).
  [[nodiscard]] uint64_t AllocatedAfter(model::EventIndex at) const;
  // The part of AllocatedAfter() that belongs to unknown blocks (model::Device::unseen).
  [[nodiscard]] uint64_t UnseenAfter(model::EventIndex at) const;
  // Bytes that the allocator has reserved. Empty before its first report.
  [[nodiscard]] std::optional<uint64_t> ReservedAfter(model::EventIndex at) const;
  [[nodiscard]] std::optional<uint64_t> peak_reserved() const;
  // The most bytes that the program had requested at one moment, unknown blocks included: allocated bytes
  // without the allocator's rounding and slack. Empty if no block has its requested bytes recorded.
  [[nodiscard]] std::optional<uint64_t> peak_requested() const { return peak_requested_; }

  [[nodiscard]] const Peak& peak() const { return peak_; }
  // The highest state after any event in [begin, end). Bytes allocated before `begin` count. begin < end.
  [[nodiscard]] Peak PeakWithin(model::EventIndex begin, model::EventIndex end) const;

  [[nodiscard]] const model::Device& device() const { return device_; }

 private:
  static constexpr size_t kStride = 64;
  struct Chunk {
    uint64_t before = 0;  // bytes of the blocks before the chunk's first change
    Peak highest;         // after one of its changes, unseen bytes included
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
