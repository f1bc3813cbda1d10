// SPDX-License-Identifier: Apache-2.0
// What each way of watching CUDA's driver has seen in this process, so that one can be held against the
// other.
//
// The hooks of the driver's functions count into seen_by_hooks, CUPTI's callbacks and activity records into
// the other two. CUPTI decides by seen_by_hooks whether it is needed: hooks that are installed and saw no
// look-up of a driver function were passed by.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::injector {

struct DriverSight {
  std::atomic<bool> installed;
  std::atomic<uint64_t> lookups;  // of driver functions, through the hooks
  std::atomic<uint64_t>
      allocations;  // device memory: device, managed, pool blocks, physical memory; those that succeeded
  std::atomic<uint64_t> bytes;  // of these allocations
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
