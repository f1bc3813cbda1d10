// SPDX-License-Identifier: Apache-2.0
// Keeps the collector alive when memory that a target shares with it disappears.
//
// If a ring file is truncated, or shared memory is full, a load raises SIGBUS. In a guarded range the handler
// maps an empty page there. The reader finds zeros and treats them as a broken ring. Elsewhere SIGBUS keeps
// its previous effect.
#pragma once

#include <cstddef>

namespace vramscope::collector {

// Only the thread that reads the rings may create and destroy guards.
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
