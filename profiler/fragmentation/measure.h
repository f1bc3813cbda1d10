// SPDX-License-Identifier: Apache-2.0
// Measures the fragmentation at one moment: the causes of the difference between reserved and requested
// bytes, metrics, free blocks by size, and blocks that pin segments.
//
// Each reserved byte that was not requested has exactly one cause. Slack is the unused end of a large block,
// up to 1 MiB, that is too small to be split off.
//
//   reserved ─┬─ requested
//             ├─ rounding to 512, rounding by roundup_power2_divisions, slack       inside allocated blocks
//             ├─ pending frees                              freed blocks that other streams may still use
//             └─ free ─┬─ in a private pool                                         pool isolation
//                      ├─ wholly free segments and pages of the default pool        releasable
//                      ├─ small pool                                                small-pool stranding
//                      ├─ large pool of another stream                              stream isolation
//                      └─ large pool of the stream with the most memory             pinned
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/fragmentation/layout.h"

namespace vramscope::fragmentation {

struct Decomposition {
  uint64_t rounding_512 = 0;
  uint64_t rounding_power2 = 0;
  uint64_t slack = 0;
  uint64_t small_pool_stranding = 0;
  uint64_t stream_isolation = 0;
  uint64_t pool_isolation = 0;
  uint64_t pending_frees = 0;
  uint64_t pinned = 0;
  uint64_t releasable = 0;

  // Sum of all causes; equals reserved bytes minus requested bytes.
  [[nodiscard]] uint64_t Sum() const {
    return rounding_512 + rounding_power2 + slack + small_pool_stranding + stream_isolation + pool_isolation +
           pending_frees + pinned + releasable;
  }
};

// O(domains).
[[nodiscard]] Decomposition Decompose(const Layout& layout);
// Returns the stream that has the most reserved memory in the default pool. Free memory of this stream does
// not count as "stream isolation".
[[nodiscard]] allocator::StreamIndex MainStream(const Layout& layout);

// Free blocks whose size is at least `at_least` and less than 2 * `at_least`.
struct FreeRuns {
  uint64_t at_least = 0;  // bytes, a power of two
  uint64_t runs = 0;
  uint64_t bytes = 0;
};

struct FreeSpace {
  uint64_t bytes = 0;
  uint64_t runs = 0;
  uint64_t largest = 0;
  double sum_of_squares = 0;

  void Add(uint64_t run) {
    bytes += run;
    ++runs;
    largest = run > largest ? run : largest;
    sum_of_squares += static_cast<double>(run) * static_cast<double>(run);
  }
  // 1 - largest free block / all free bytes. The result is 0 if there is only one free block or none, and
  // near 1 if there are many small free blocks.
  [[nodiscard]] double External() const;
  // 1 - sqrt(sum of squared sizes) / all free bytes. Like External(), but all free blocks affect the result.
  [[nodiscard]] double RootSumSquare() const;
};

struct DomainMetrics {
  Domain sums;
  FreeSpace space;
};

struct Metrics {
  Domain total;
  Decomposition causes;
  FreeSpace space;
  std::vector<DomainMetrics> domains;
  std::vector<FreeRuns> histogram;  // sorted by size; size classes without free blocks are left out

  [[nodiscard]] uint64_t active() const { return total.allocated + total.pending; }
  // Free bytes that cannot be given back to the driver, because their segment or page contains live blocks.
  [[nodiscard]] uint64_t stranded() const { return total.free - total.whole; }
  // 1 - allocated / reserved.
  [[nodiscard]] double Instantaneous() const;
  // 1 - requested / allocated: the fraction that rounding and slack take.
  [[nodiscard]] double Internal() const;
  // Pending frees / reserved.
  [[nodiscard]] double PendingShare() const;
};

// O(blocks).
[[nodiscard]] Metrics Measure(const Layout& layout);

// The largest request of one stream and pool that the allocator could serve at this moment.
struct LargestRequest {
  allocator::PoolIndex pool = allocator::kDefaultPool;
  allocator::StreamIndex stream = 0;
  uint64_t from_free_blocks = 0;        // bytes, from free blocks of the pool
  std::optional<uint64_t> from_driver;  // bytes, from a new segment or new pages; nullopt = unknown
};
// Returns the largest request for each stream and pool. `driver_free` is the driver's number of free bytes,
// if known. Completely free segments of other streams are not counted.
[[nodiscard]] std::vector<LargestRequest> LargestRequests(const Layout& layout,
                                                          std::optional<uint64_t> driver_free);
// Returns the largest request that a new segment can serve.
[[nodiscard]] uint64_t LargestFromDriver(uint64_t driver_free);

// A segment whose free memory cannot be given back to the driver, and the blocks that pin the segment.
struct PinnedSegment {
  SegmentIndex segment = kNoIndex;
  uint64_t held_back = 0;  // free bytes in segments or pages with live blocks
  uint64_t free = 0;
  uint64_t largest_free = 0;
  uint64_t live = 0;  // bytes of allocated blocks and pending frees
  // Live blocks, largest first. In an expandable segment, only blocks that share a page with free bytes.
  std::vector<BlockIndex> pins;
};
// Returns all pinned segments, sorted by held-back bytes, most first.
[[nodiscard]] std::vector<PinnedSegment> PinnedSegments(const Layout& layout);

}  // namespace vramscope::fragmentation
