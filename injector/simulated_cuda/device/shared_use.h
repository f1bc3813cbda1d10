// SPDX-License-Identifier: Apache-2.0
// Counts how much memory of each simulated device all processes of a run use, and decides whether an
// allocation fits. The counts are in a table in shared memory (trace_format/device_use.h), with one entry for
// each process.
//
// A process that was killed cannot remove its entry. Another process removes that entry before it refuses an
// allocation, reports a new peak, or answers a query of free memory.
//
// If a process was killed while it held the table's lock, another process can take the lock. Each process
// adds to and subtracts from its own entry only. A forked child has its own entry.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace_format/device_use.h"

namespace vramscope::simulated {

// Thread-safe, in all processes.
class SharedUse {
 public:
  // Maps the table in `file`; creates the file if it is missing. If `file` is nullptr or cannot be mapped,
  // the table is in this process's own memory and counts only this process.
  explicit SharedUse(const char* file);
  ~SharedUse();
  SharedUse(const SharedUse&) = delete;
  SharedUse& operator=(const SharedUse&) = delete;

  // Adds `bytes` to this process's memory if the memory of all processes then stays within `capacity`.
  // Otherwise returns false and sets `*missing` to the number of bytes by which the allocation exceeds
  // `capacity`.
  bool Take(int device, uint64_t bytes, uint64_t capacity, uint64_t* missing);
  // Subtracts `bytes` from this process's memory.
  void Give(int device, uint64_t bytes);

  // Returns the bytes that all living processes use.
  uint64_t UsedBytes(int device);
  // Stores the living processes that use memory of the device in `processes`, at most `most`. Returns the
  // number of stored processes.
  size_t Processes(int device, trace::PeakShare* processes, size_t most);
  // Returns the most bytes that all processes used at one time.
  uint64_t PeakBytes(int device);

 private:
  class Lock;

  trace::ProcessUse* OwnEntry();
  [[nodiscard]] uint64_t Sum(int device) const;
  // Frees the entries of dead processes that used memory of `device`; -1 = of all dead processes.
  void RemoveDead(int device);
  void NotePeak(int device, uint64_t bytes);

  trace::DeviceUseTable* table_;
  bool mapped_;
  trace::ProcessUse* own_ = nullptr;  // this process's entry; guarded by the lock
};

// Returns the table of this run, which is never destroyed.
SharedUse& TheSharedUse();

}  // namespace vramscope::simulated
