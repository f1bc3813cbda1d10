// SPDX-License-Identifier: Apache-2.0
// The size rules of PyTorch's caching allocator: how a request is rounded, when a free block is split, and
// the sizes of segments and pages. PyTorch: round_size, should_split, get_allocation_size in
// c10/cuda/CUDACachingAllocator.cpp and the constants in c10/core/AllocatorConfig.h, 1.13 to 2.15.
//
//   request 700 B      block 1,024 B      small pool, from a segment of 2 MiB
//   request 3 MiB      block 3 MiB        large pool, from a segment of 20 MiB
//   request 11 MiB     block 12 MiB       a whole segment of 12 MiB: the last 1 MiB is not split off
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "profiler/allocator/release.h"
#include "profiler/allocator/settings.h"

namespace vramscope::allocator {

constexpr uint64_t kMinBlockBytes = 512;           // every block size is a multiple of this
constexpr uint64_t kSmallRequestBytes = kMiB;      // rounded sizes up to this value come from the small pool
constexpr uint64_t kSmallSegmentBytes = 2 * kMiB;  // size of the small pool's segments and pages
constexpr uint64_t kMadeToMeasureBytes =
    10 * kMiB;  // requests of this size and above get a segment of the request's size, rounded
constexpr uint64_t kMadeToMeasureRounding = 2 * kMiB;
constexpr uint64_t kMaxSlackBytes = kMiB;  // unrequested bytes that a block of the large pool may keep

constexpr uint64_t RoundUp(uint64_t bytes, uint64_t step) { return (bytes + step - 1) / step * step; }

// Rounds `bytes` up to the next of `divisions` equal steps between two powers of two.
constexpr uint64_t NextDivision(uint64_t bytes, uint64_t divisions) {
  if (std::has_single_bit(bytes)) return bytes;
  const uint64_t floor = std::bit_floor(bytes);
  const uint64_t step = floor >> (std::bit_width(divisions) - 1);
  return step == 0 ? floor << 1 : RoundUp(bytes, step);
}

// Rounds up to the next multiple of 512. 0 gives 512.
constexpr uint64_t PlainlyRounded(uint64_t bytes) {
  return bytes < kMinBlockBytes ? kMinBlockBytes : RoundUp(bytes, kMinBlockBytes);
}

// The block size for a request.
[[nodiscard]] inline uint64_t RoundedSize(uint64_t bytes, const Settings& settings, const Release& release) {
  if (bytes < kMinBlockBytes) return kMinBlockBytes;
  const int doubling = std::clamp<int>(std::bit_width(bytes) - 21, 0, kRoundingBuckets - 1);
  const uint64_t divisions = settings.roundup_power2_divisions[static_cast<size_t>(doubling)];
  // PyTorch 1.13 accepts any number of divisions. With one division, it would round to the next power of two.
  const bool wanted =
      release.single_rounding ? divisions > 0 && bytes <= settings.roundup_bypass_bytes : divisions > 1;
  if (wanted && bytes > kMinBlockBytes * divisions) return NextDivision(bytes, divisions);
  return RoundUp(bytes, kMinBlockBytes);
}

// Returns true if a free block of `free_bytes` is split for a request of `rounded` bytes. `rounded` must be
// <= `free_bytes`. `expandable` is true for expandable segments.
[[nodiscard]] inline bool IsSplit(uint64_t free_bytes, uint64_t rounded, bool small, bool expandable,
                                  const Settings& settings) {
  const uint64_t rest = free_bytes - rounded;
  if (small || expandable) return rest >= kMinBlockBytes;
  return rounded < settings.max_split_bytes && rest > kMaxSlackBytes;
}

// The size of the cudaMalloc for a request that finds no free block.
[[nodiscard]] inline uint64_t SegmentBytes(uint64_t rounded, const Settings& settings) {
  if (rounded <= kSmallRequestBytes) return kSmallSegmentBytes;
  if (rounded < kMadeToMeasureBytes) return settings.large_segment_bytes;
  return RoundUp(rounded, kMadeToMeasureRounding);
}

[[nodiscard]] inline uint64_t PageBytes(bool small, const Settings& settings) {
  return small ? kSmallSegmentBytes : settings.large_segment_bytes;
}

}  // namespace vramscope::allocator
