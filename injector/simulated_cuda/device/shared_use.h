// SPDX-License-Identifier: Apache-2.0
// The memory that all processes of a run have taken from each device (trace_format/device_use.h), and whether
// more fits.
//
// A process that dies leaves its entry behind. Another process removes it when it finds no room, sets a new
// peak or queries the free memory. So dead processes never cause a refusal and never count in a peak.
//
// The lock is a word with its holder's identity, and can be taken over from a dead holder. Nothing has to be
// repaired then: the total is the sum of the entries, and each process writes only its own. A forked child
// has its own entry; freeing its parent's memory there changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace_format/device_use.h"

namespace vramscope::simulated {

// All functions may be called from any thread of any process that maps the file.
class SharedUse {
 public:
  // The table in `file`, which is created if missing. With nullptr, or a file that cannot be mapped: a table
  // for this process alone.
  explicit SharedUse(const char* file);
  ~SharedUse();
  SharedUse(const SharedUse&) = delete;
  SharedUse& operator=(const SharedUse&) = delete;

  // Adds `bytes` on the device if they fit into `capacity` together with what all processes have taken.
  // Otherwise nothing changes, and `missing` is the number of bytes that do not fit.
  bool Take(int device, uint64_t bytes, uint64_t capacity, uint64_t* missing);
  void Give(int device, uint64_t bytes);

  // Bytes taken by all living processes.
  uint64_t UsedBytes(int device);
  // Stores the living processes that have taken memory of the device, at most `most`. Returns how many.
  size_t Processes(int device, trace::PeakShare* processes, size_t most);
  // The most bytes taken at one time.
  uint64_t PeakBytes(int device);

 private:
  class Lock;

  trace::ProcessUse* OwnEntry();
  [[nodiscard]] uint64_t Sum(int device) const;
  // Frees the entries of dead processes that have memory of `device`, or of all dead processes.
  void RemoveDead(int device);
  void NotePeak(int device, uint64_t bytes);

  trace::DeviceUseTable* table_;
  bool mapped_;
  trace::ProcessUse* own_ = nullptr;  // under the lock
};

// The table of this run. Never destroyed.
SharedUse& TheSharedUse();

}  // namespace vramscope::simulated
