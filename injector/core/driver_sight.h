// SPDX-License-Identifier: Apache-2.0
// Counts of the CUDA driver calls that the hooks, CUPTI's callbacks and CUPTI's activity records have
// reported in this process.
//
// injector/cupti reads the counts: if the hooks saw no look-up of a driver function, the program bypasses the
// hooks, and CUPTI is needed.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::injector {

struct DriverSight {
  std::atomic<bool> installed;    // true if the hooks are active; set only in seen_by_hooks
  std::atomic<uint64_t> lookups;  // look-ups of driver functions through the hooks
  // Successful allocations of device memory, managed memory, physical memory and blocks of a memory pool.
  std::atomic<uint64_t> allocations;
  std::atomic<uint64_t> bytes;  // total size of `allocations`
  std::atomic<uint64_t> frees;

  void CountAllocation(uint64_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    bytes.fetch_add(size, std::memory_order_relaxed);
  }
};

extern DriverSight seen_by_hooks;
extern DriverSight seen_by_callbacks;
extern DriverSight seen_by_activity;

}  // namespace vramscope::injector
