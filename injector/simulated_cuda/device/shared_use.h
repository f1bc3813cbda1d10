// SPDX-License-Identifier: Apache-2.0
// The memory that all processes of a run have taken from each device (trace_format/device_use.h), and whether
// more fits.
//
// A process that dies leaves its entry behind. Another process removes it before a refusal, a new peak or a
// query of free memory.
//
// The lock can be taken over from a dead holder. Each process writes only its own entry. A forked child has
// its own entry.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace_format/device_use.h"

namespace vramscope::simulated {

// Thread-safe, in all processes.
class SharedUse {
 public:
  // The table in `file`, created if missing. If `file` is nullptr or cannot be mapped: a table for this
  // process alone.
  explicit SharedUse(const char* file);
  ~SharedUse();
  SharedUse(const SharedUse&) = delete;
  SharedUse& operator=(const SharedUse&) = delete;

  // Adds `bytes` if they fit into `capacity` with all that is taken. Otherwise `missing` is set to the number
  // of bytes that do not fit.
  bool Take(int device, uint64_t bytes, uint64_t capacity, uint64_t* missing);
  void Give(int device, uint64_t bytes);

  // Bytes taken by all living processes.
  uint64_t UsedBytes(int device);
  // Stores at most `most` living processes with memory of the device. Returns how many.
  size_t Processes(int device, trace::PeakShare* processes, size_t most);
  // The most bytes taken at one time.
  uint64_t PeakBytes(int device);

 private:
  class Lock;

  trace::ProcessUse* OwnEntry();
  [[nodiscard]] uint64_t Sum(int device) const;
  // Frees entries of dead processes with memory of `device`, or of all dead processes.
  void RemoveDead(int device);
  void NotePeak(int device, uint64_t bytes);

  trace::DeviceUseTable* table_;
  bool mapped_;
  trace::ProcessUse* own_ = nullptr;  // under the lock
};

// The table of this run. Never destroyed.
SharedUse& TheSharedUse();

}  // namespace vramscope::simulated
