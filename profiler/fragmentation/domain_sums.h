// SPDX-License-Identifier: Apache-2.0
// The blocks and segments of a memory layout, and the sums of their bytes for each domain (struct Domain).
//
// To keep the sums correct, subtract a block (sign -1) before it changes, and add it (sign +1) afterwards.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/fragmentation/rules.h"

namespace vramscope::fragmentation {

using BlockIndex = uint32_t;
using SegmentIndex = uint32_t;
constexpr uint32_t kNoIndex = 0xffffffff;

// Block::born of a block that was allocated before the history begins.
constexpr uint32_t kBeforeHistory = 0xffffffff;

struct Block {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t requested_bytes = 0;    // 0 for a free block
  BlockIndex previous = kNoIndex;  // neighbors in the segment, in order of address
  BlockIndex next = kNoIndex;
  SegmentIndex segment = kNoIndex;
  uint32_t born = kBeforeHistory;  // event of the allocation
  allocator::BlockUse use = allocator::BlockUse::kFree;

  [[nodiscard]] bool free() const { return use == allocator::BlockUse::kFree; }
  [[nodiscard]] uint64_t end() const { return address + bytes; }
};

// One cudaMalloc, or one run of mapped pages.
struct Segment {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint64_t page_bytes = 0;  // page size of expandable memory; 0 = from cudaMalloc
  BlockIndex first = kNoIndex;
  uint32_t domain = 0;
  uint32_t live_blocks = 0;  // number of allocated blocks and of blocks with a pending free

  [[nodiscard]] bool expandable() const { return page_bytes != 0; }
  [[nodiscard]] uint64_t end() const { return address + bytes; }
};

// A domain is a pool, a stream and a size class (small or large). Free blocks serve only requests of their
// own domain. Example: with roundup_power2_divisions:4, a request of 1,300,000 bytes gets a free block of 2
// MiB (2,097,152 bytes):
//
//   2,097,152 allocated = 1,300,000 requested + 480 rounding_512 + 10,240 rounding_power2 + 786,432 slack
struct Domain {
  allocator::PoolIndex pool = allocator::kDefaultPool;
  allocator::StreamIndex stream = 0;
  bool large = false;

  uint64_t reserved = 0;
  uint64_t allocated = 0;        // with rounding and slack
  uint64_t requested = 0;        // bytes that the program requested, for allocated blocks
  uint64_t rounding_512 = 0;     // part of `allocated`: up to the next multiple of 512
  uint64_t rounding_power2 = 0;  // part of `allocated`: by roundup_power2_divisions
  uint64_t slack = 0;            // part of `allocated`: rest of a free block, too small to split off
  uint64_t pending = 0;          // bytes of freed blocks that another stream may still use
  uint64_t pending_requested = 0;
  uint64_t free = 0;
  uint64_t whole = 0;  // part of `free`: completely free segments and pages
};

class DomainSums {
 public:
  explicit DomainSums(const Rules& rules) : rules_(rules) {}

  // Sums over all domains.
  struct Held {
    uint64_t reserved = 0;
    uint64_t allocated = 0;
    uint64_t requested = 0;
  };

  // Creates the domain if it does not exist.
  uint32_t DomainFor(allocator::PoolIndex pool, allocator::StreamIndex stream, bool large);
  // Adds (`sign` +1) or subtracts (`sign` -1) the reserved bytes of a segment, without its blocks.
  void CountReserved(const Segment& segment, int sign);
  void Count(const Block& block, const Segment& segment, int sign);
  // Changes only Domain::whole, for a free block that is split or merged.
  void CountWhole(const Block& block, const Segment& segment, int sign);

  [[nodiscard]] const std::vector<Domain>& domains() const { return domains_; }
  [[nodiscard]] const Held& held() const { return held_; }
  [[nodiscard]] Domain Total() const;

 private:
  Rules rules_;
  std::vector<Domain> domains_;
  Held held_;
};

// Returns the bytes of a free block that could go back to the driver. `segment` contains the block.
[[nodiscard]] uint64_t WholeBytes(const Block& block, const Segment& segment);

}  // namespace vramscope::fragmentation
