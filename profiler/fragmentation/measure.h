// SPDX-License-Identifier: Apache-2.0
// Measures the fragmentation at one moment: the causes of the difference between reserved and requested
// bytes, metrics, free runs by size, and blocks that pin segments.
//
// Each reserved byte that was not requested has exactly one cause:
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

  // Reserved minus requested.
  [[nodiscard]] uint64_t Sum() const {
    return rounding_512 + rounding_power2 + slack + small_pool_stranding + stream_isolation + pool_isolation +
           pending_frees + pinned + releasable;
  }
};

// O(domains).
[[nodiscard]] Decomposition Decompose(const Layout& layout);
// The stream of the default pool with the most reserved memory. Its free memory is not isolated.
[[nodiscard]] allocator::StreamIndex MainStream(const Layout& layout);

// Free blocks of one size class: [at_least, 2 * at_least).
struct FreeRuns {
  uint64_t at_least = 0;  // a power of two
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
  // 1 - largest / all. 0: one piece, or nothing is free. Near 1: many pieces.
  [[nodiscard]] double External() const;
  // 1 - sqrt(sum of squares) / all: like External, but depends on all pieces.
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
  std::vector<FreeRuns> histogram;  // by size; without empty classes

  [[nodiscard]] uint64_t active() const { return total.allocated + total.pending; }
  // Free bytes that cannot go back to the driver.
  [[nodiscard]] uint64_t stranded() const { return total.free - total.whole; }
  // 1 - allocated / reserved.
  [[nodiscard]] double Instantaneous() const;
  // 1 - requested / allocated: rounding and slack.
  [[nodiscard]] double Internal() const;
  // Pending frees / reserved.
  [[nodiscard]] double PendingShare() const;
};

// O(blocks).
[[nodiscard]] Metrics Measure(const Layout& layout);

// The largest request of one stream and pool that would be served now.
struct LargestRequest {
  allocator::PoolIndex pool = allocator::kDefaultPool;
  allocator::StreamIndex stream = 0;
  uint64_t from_free_blocks = 0;        // from free blocks
  std::optional<uint64_t> from_driver;  // from a new segment or more pages; nullopt = unknown
};
// `driver_free`: the driver's free bytes, if known. Completely free segments of other streams do not count.
[[nodiscard]] std::vector<LargestRequest> LargestRequests(const Layout& layout,
                                                          std::optional<uint64_t> driver_free);
// The largest request that a new segment can serve.
[[nodiscard]] uint64_t LargestFromDriver(uint64_t driver_free);

// A segment with free memory that cannot go back to the driver, and the blocks that pin it.
struct PinnedSegment {
  SegmentIndex segment = kNoIndex;
  uint64_t held_back = 0;  // free bytes in segments or pages with live blocks
  uint64_t free = 0;
  uint64_t largest_free = 0;
  uint64_t live = 0;  // allocated and pending bytes
  // Live blocks, largest first. In expandable memory only blocks that share a page with free bytes.
  std::vector<BlockIndex> pins;
};
// Most held-back bytes first.
[[nodiscard]] std::vector<PinnedSegment> PinnedSegments(const Layout& layout);

}  // namespace vramscope::fragmentation
