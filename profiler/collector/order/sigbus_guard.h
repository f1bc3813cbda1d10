// SPDX-License-Identifier: Apache-2.0
// Keeps the collector alive when memory that a target shares with it disappears.
//
// Why: ring files belong to the target. If such a file is truncated, or the shared-memory file system is full
// when a hole is read, the kernel answers the collector's load with SIGBUS. In a guarded range the handler
// maps an empty page there instead. The reader then finds zeros, which it recognizes as a broken ring.
// Everywhere else SIGBUS keeps its previous effect.
#pragma once

#include <cstddef>

namespace vramscope::collector {

// For one thread: the thread that reads the rings creates and destroys the guards.
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
