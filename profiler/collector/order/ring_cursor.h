// SPDX-License-Identifier: Apache-2.0
// Reads the records of one ring (glossary: Ring) in order, and gives their space back to the writer.
//
//   tail (given back) ≤ position (taken) ≤ head (as of Refresh) ≤ what the writer has published since
//
// The target process may write invalid data into the ring. So each record is copied before it is checked and
// read. After an invalid record, the cursor skips to the head and counts the skipped bytes.
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

  // Reads the writer's current head. Records that are published later become visible at the next Refresh.
  void Refresh();

  // Stores the time of the next record. Returns false if all visible records have been taken.
  bool PeekTicks(uint64_t* ticks);
  // Copies the next record into `buffer` and returns it. Call this only after PeekTicks returned true.
  const trace::RawRecord* Take(RecordBuffer& buffer);
  // Gives the space of the taken records back to the writer.
  void GiveBack();
  // Calls GiveBack if at least 1/8 of the ring has been taken.
  void GiveBackSometimes();

  // Thread ID of the ring's owner, at the last Refresh that found new records.
  [[nodiscard]] uint32_t os_thread() const { return os_thread_; }
  // A number that changes when another thread takes over the ring.
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
  // Number of invalid bytes that were skipped.
  [[nodiscard]] uint64_t broken_bytes() const { return broken_bytes_; }

 private:
  // Copies the header of the next record into next_. Returns false if there is no next record.
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
