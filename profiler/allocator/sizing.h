// SPDX-License-Identifier: Apache-2.0
// The sizes that PyTorch's caching allocator works in: how far a request is rounded, when a free block is
// split, how large segments and pages are.
//
// Why apart from the state machine: whoever follows a recorded layout needs these rules and no decisions. How
// many bytes a block has is not in an event; it follows from the request, from the free block that it was cut
// from, and from this. PyTorch: round_size, should_split, get_allocation_size in
// c10/cuda/CUDACachingAllocator.cpp and the constants in c10/core/AllocatorConfig.h, 1.13 to 2.15.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "profiler/allocator/release.h"
#include "profiler/allocator/settings.h"

namespace vramscope::allocator {

constexpr uint64_t kMinBlockBytes = 512;             // every block is a multiple of it
constexpr uint64_t kSmallRequestBytes = kMiB;        // rounded sizes up to it come from the small pool
constexpr uint64_t kSmallSegmentBytes = 2 * kMiB;    // and from segments or pages of this size
constexpr uint64_t kMadeToMeasureBytes = 10 * kMiB;  // from here on a large segment fits its request,
constexpr uint64_t kMadeToMeasureRounding = 2 * kMiB;
constexpr uint64_t kMaxSlackBytes = kMiB;  // what a block of the large pool may keep beyond its request

constexpr uint64_t RoundUp(uint64_t bytes, uint64_t step) { return (bytes + step - 1) / step * step; }

// `bytes` at the next of the `divisions` equal steps between two powers of two.
constexpr uint64_t NextDivision(uint64_t bytes, uint64_t divisions) {
  if (std::has_single_bit(bytes)) return bytes;
  const uint64_t floor = std::bit_floor(bytes);
  const uint64_t step = floor >> (std::bit_width(divisions) - 1);
  return step == 0 ? floor << 1 : RoundUp(bytes, step);
}

// To the next multiple of 512, whatever the settings; of nothing too.
constexpr uint64_t PlainlyRounded(uint64_t bytes) {
  return bytes < kMinBlockBytes ? kMinBlockBytes : RoundUp(bytes, kMinBlockBytes);
}

// The block size that a request of `bytes` looks for.
[[nodiscard]] inline uint64_t RoundedSize(uint64_t bytes, const Settings& settings, const Release& release) {
  if (bytes < kMinBlockBytes) return kMinBlockBytes;
  const int doubling = std::clamp<int>(std::bit_width(bytes) - 21, 0, kRoundingBuckets - 1);
  const uint64_t divisions = settings.roundup_power2_divisions[static_cast<size_t>(doubling)];
  // 1.13 asks for any divisions at all; one division would round to the next power of two.
  const bool wanted =
      release.single_rounding ? divisions > 0 && bytes <= settings.roundup_bypass_bytes : divisions > 1;
  if (wanted && bytes > kMinBlockBytes * divisions) return NextDivision(bytes, divisions);
  return RoundUp(bytes, kMinBlockBytes);
}

// Whether a free block is split for a request, `rounded` <= `free_bytes`. `expandable`: the request is one
// for expandable memory.
[[nodiscard]] inline bool IsSplit(uint64_t free_bytes, uint64_t rounded, bool small, bool expandable,
                                  const Settings& settings) {
  const uint64_t rest = free_bytes - rounded;
  if (small || expandable) return rest >= kMinBlockBytes;
  return rounded < settings.max_split_bytes && rest > kMaxSlackBytes;
}

// What the driver is asked for when a request, `rounded`, finds no free block; cudaMalloc.
[[nodiscard]] inline uint64_t SegmentBytes(uint64_t rounded, const Settings& settings) {
  if (rounded <= kSmallRequestBytes) return kSmallSegmentBytes;
  if (rounded < kMadeToMeasureBytes) return settings.large_segment_bytes;
  return RoundUp(rounded, kMadeToMeasureRounding);
}

// Of expandable memory.
[[nodiscard]] inline uint64_t PageBytes(bool small, const Settings& settings) {
  return small ? kSmallSegmentBytes : settings.large_segment_bytes;
}

}  // namespace vramscope::allocator
