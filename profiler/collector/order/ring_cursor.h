// SPDX-License-Identifier: Apache-2.0
// Reads one ring: takes the published records in order, and returns their space to the writer.
//
//   tail (given back) ≤ position (taken) ≤ head (as of Refresh) ≤ what the writer has published since
//
// Nothing in the ring is trusted. Each record is copied before it is read. After an invalid record, the
// cursor skips to the head and counts the bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace_format/ring.h"

namespace vramscope::collector {

struct alignas(64) RecordBuffer {
  std::byte bytes[trace::kRawMaxUnits * trace::kRawUnitBytes];
};

class RingCursor {
 public:
  RingCursor(trace::RingHeader& ring, const std::byte* data, uint64_t ring_bytes);

  // Reads how far the writer has published. Later records wait for the next Refresh.
  void Refresh();

  // False: all records are taken.
  bool PeekTicks(uint64_t* ticks);
  // Copies the next record. Only after PeekTicks returned true.
  const trace::RawRecord* Take(RecordBuffer& buffer);
  // Returns the space of taken records to the writer.
  void GiveBack();
  // GiveBack if much of the ring has been taken.
  void GiveBackSometimes();

  // The owner of the ring at the last Refresh that found new records.
  [[nodiscard]] uint32_t os_thread() const { return os_thread_; }
  // Changes when another thread has taken the ring.
  [[nodiscard]] uint32_t generation() const { return generation_; }

  // Records dropped by the writer since the last call.
  struct Loss {
    uint64_t count = 0;
    uint64_t first_ticks = 0;
    uint64_t last_ticks = 0;
  };
  Loss TakeLoss();

  // Makes the ring available to the next thread if the owner has ended and all records are taken. Call
  // TakeLoss first.
  void RecycleIfDone();

  // Percentage of the ring with unread records at the last Refresh.
  [[nodiscard]] uint32_t fill_percent() const { return fill_percent_; }
  // Invalid bytes, skipped.
  [[nodiscard]] uint64_t broken_bytes() const { return broken_bytes_; }

 private:
  // False: no record left.
  bool LoadNext();
  void SkipToHead();

  trace::RingHeader& ring_;
  const std::byte* data_;
  uint64_t ring_bytes_;
  uint64_t position_;
  uint64_t head_;
  uint64_t given_back_;
  bool closed_ = false;
  bool next_loaded_ = false;
  trace::RawRecord next_{};
  uint32_t os_thread_ = 0;
  uint32_t generation_ = 0;
  uint32_t fill_percent_ = 0;
  uint64_t reported_loss_ = 0;
  uint64_t broken_bytes_ = 0;
};

}  // namespace vramscope::collector
