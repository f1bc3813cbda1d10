// SPDX-License-Identifier: Apache-2.0
// Keeps the collector running if memory that it shares with a recorded process becomes invalid.
//
// If a ring file is truncated, or shared memory is full, a load from the ring raises SIGBUS. If the address
// is in a guarded range, the signal handler maps a page of zeros there. The collector then reads zeros and
// treats the ring as broken. For other addresses, SIGBUS keeps its previous effect.
#pragma once

#include <cstddef>

namespace vramscope::collector {

// Guards the range [begin, begin + bytes) while the object exists. Only the thread that reads the rings may
// create and destroy guards.
class SigbusGuard {
 public:
  SigbusGuard(void* begin, size_t bytes);
  ~SigbusGuard();
  SigbusGuard(const SigbusGuard&) = delete;
  SigbusGuard& operator=(const SigbusGuard&) = delete;

 private:
  void* begin_;
};

}  // namespace vramscope::collector
