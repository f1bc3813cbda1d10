// SPDX-License-Identifier: Apache-2.0
// The statistics of torch.cuda.memory_stats(). PyTorch: DeviceStats in c10/core/CachingDeviceAllocator.h.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vramscope::allocator {

// Counts bytes or items.
struct Counter {
  uint64_t current = 0;
  uint64_t peak = 0;

  void Add(uint64_t amount) {
    current += amount;
    peak = std::max(peak, current);
  }
  void Subtract(uint64_t amount) { current -= amount; }
  void ResetPeak() { peak = current; }
};

// Statistics of all pools, of the small pools, or of the large pools.
struct PoolStatistics {
  Counter allocated_bytes;       // allocated blocks with rounding; falls when the program frees
  Counter active_bytes;          // also blocks that another stream may use; falls when the free completes
  Counter requested_bytes;       // bytes that the program requested, for active blocks
  Counter reserved_bytes;        // segments and mapped pages
  Counter inactive_split_bytes;  // free blocks with a neighbor, expandable memory excluded
  Counter allocation;            // number of blocks; the counters below also count items
  Counter active;
  Counter inactive_split;
  Counter segment;  // segments of cudaMalloc

  void ResetPeaks() {
    for (Counter* counter : {&allocated_bytes, &active_bytes, &requested_bytes, &reserved_bytes,
                             &inactive_split_bytes, &allocation, &active, &inactive_split, &segment})
      counter->ResetPeak();
  }
};

struct Statistics {
  PoolStatistics all;
  PoolStatistics small_pool;
  PoolStatistics large_pool;
  Counter oversize_allocations;  // blocks of max_split_size_mb and above
  Counter oversize_segments;
  uint64_t num_alloc_retries = 0;  // retries after the cache was given back to the driver
  uint64_t num_ooms = 0;
  uint64_t num_oom_rejections = 0;  // requests that throw_on_cudamalloc_oom rejected
  uint64_t num_sync_all_streams = 0;
  uint64_t num_device_alloc = 0;  // cudaMalloc and mapped ranges
  uint64_t num_device_free = 0;

  // torch.cuda.reset_peak_memory_stats() and reset_accumulated_memory_stats().
  void Reset() {
    for (PoolStatistics* group : {&all, &small_pool, &large_pool}) group->ResetPeaks();
    oversize_allocations.ResetPeak();
    oversize_segments.ResetPeak();
    num_alloc_retries = num_ooms = num_oom_rejections = 0;
    num_sync_all_streams = num_device_alloc = num_device_free = 0;
  }
};

}  // namespace vramscope::allocator
