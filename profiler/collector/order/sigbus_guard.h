// SPDX-License-Identifier: Apache-2.0
// Keeps the collector alive when memory that a target shares with it goes away under its feet.
//
// Why: ring files belong to the target. If one is cut shorter, or the shared-memory file system is full when
// a hole is read, the kernel answers the collector's load with SIGBUS. Inside a guarded range the handler
// puts an empty page there instead, and the reader finds zeros, which it knows as a broken ring. Everywhere
// else SIGBUS does what it did before.
#pragma once

#include <cstddef>

namespace vramscope::collector {

// For one thread: the one that reads the rings makes and destroys the guards.
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
