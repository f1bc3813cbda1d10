// SPDX-License-Identifier: Apache-2.0
// What all processes of a run have taken of each device (trace_format/device_use.h): whether more fits is
// asked here.
//
// A process that dies leaves its entry behind. It is removed by whoever finds no room, sets a new peak or
// asks how much is left, so nobody is ever refused, and no peak is ever noted, because of the dead.
//
// The lock is a word with its holder's identity: it is taken over from a holder that died, and nothing has to
// be repaired then, for what counts is the sum of entries that their own processes alone write. A child made
// by fork has an entry of its own; what it gives back of its parent's memory changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace_format/device_use.h"

namespace vramscope::simulated {

// All functions may be called from any thread of any process that maps the file.
class SharedUse {
 public:
  // The table in `file`, which is made when it is not there. nullptr, or a file that cannot be mapped: a
  // table that this process has alone.
  explicit SharedUse(const char* file);
  ~SharedUse();
  SharedUse(const SharedUse&) = delete;
  SharedUse& operator=(const SharedUse&) = delete;

  // Counts `bytes` more on the device when they fit in `capacity` with what is taken there. Otherwise nothing
  // changes, and `missing` are the bytes by which they do not fit.
  bool Take(int device, uint64_t bytes, uint64_t capacity, uint64_t* missing);
  void Give(int device, uint64_t bytes);

  // By all living processes.
  uint64_t UsedBytes(int device);
  // The living processes that have taken some of it, `most` at most. Returns how many.
  size_t Processes(int device, trace::PeakShare* processes, size_t most);
  // Most that was taken at one time.
  uint64_t PeakBytes(int device);

 private:
  class Lock;

  trace::ProcessUse* OwnEntry();
  [[nodiscard]] uint64_t Sum(int device) const;
  // Frees the entries of the dead; all of them, or those that have something of the device.
  void RemoveDead(int device);
  void NotePeak(int device, uint64_t bytes);

  trace::DeviceUseTable* table_;
  bool mapped_;
  trace::ProcessUse* own_ = nullptr;  // under the lock
};

// The table of this run. Never destroyed.
SharedUse& TheSharedUse();

}  // namespace vramscope::simulated
