// SPDX-License-Identifier: Apache-2.0
// The few rules of PyTorch's caching allocator that a memory layout follows: how far a request is rounded,
// when a free block is split, how large the pages of expandable memory are.
//
// Why: events tell the requested size and the address. How many bytes the block has follows from the free
// block that it was cut from, by these rules and nothing else. PyTorch: round_size, should_split and
// get_allocation_size in c10/cuda/CUDACachingAllocator.cpp, 1.13 to 2.15.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace vramscope::fragmentation {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kMinBlockBytes = 512;             // every block is a multiple of it
constexpr uint64_t kSmallRequestBytes = kMiB;        // rounded sizes up to it come from the small pool
constexpr uint64_t kSmallSegmentBytes = 2 * kMiB;    // and from segments or pages of this size
constexpr uint64_t kMadeToMeasureBytes = 10 * kMiB;  // from here on a large segment fits its request
constexpr uint64_t kMadeToMeasureRounding = 2 * kMiB;
constexpr uint64_t kMaxSlackBytes = kMiB;  // what a block of the large pool may keep beyond its request
constexpr size_t kRoundingBuckets = 16;    // allocator::kRoundingBuckets

struct Rules {
  uint64_t max_split_bytes = std::numeric_limits<uint64_t>::max();
  uint64_t large_segment_bytes = 20 * kMiB;
  // PYTORCH_CUDA_ALLOC_CONF's roundup_power2_divisions for [1 MiB, 2 MiB), [2 MiB, 4 MiB), ...; the first
  // also serves what is smaller, the last what is larger. 0, 1 = off.
  std::array<uint64_t, kRoundingBuckets> roundup_power2_divisions = {};
  bool expandable_segments = false;  // the setting; segments say for themselves whether they are

  // The block size that a request of `bytes` looks for.
  [[nodiscard]] uint64_t Rounded(uint64_t bytes) const {
    if (bytes < kMinBlockBytes) return kMinBlockBytes;
    const uint64_t divisions = roundup_power2_divisions[Bucket(bytes)];
    if (divisions > 1 && bytes > kMinBlockBytes * divisions) return NextDivision(bytes, divisions);
    return Plain(bytes);
  }
  // To the next multiple of 512 bytes.
  [[nodiscard]] static uint64_t Plain(uint64_t bytes) {
    return bytes == 0 ? kMinBlockBytes : (bytes + kMinBlockBytes - 1) / kMinBlockBytes * kMinBlockBytes;
  }
  // The size of the block that a request, `rounded`, gets from a free block of `free_bytes` >= `rounded`.
  [[nodiscard]] uint64_t BlockBytes(uint64_t rounded, uint64_t free_bytes, bool large,
                                    bool expandable) const {
    const uint64_t rest = free_bytes - rounded;
    const bool split = !large || expandable || expandable_segments
                           ? rest >= kMinBlockBytes
                           : rounded < max_split_bytes && rest > kMaxSlackBytes;
    return split ? rounded : free_bytes;
  }
  // What the driver is asked for when a request, `rounded`, finds no free block; cudaMalloc.
  [[nodiscard]] uint64_t SegmentBytes(uint64_t rounded) const {
    if (rounded <= kSmallRequestBytes) return kSmallSegmentBytes;
    if (rounded < kMadeToMeasureBytes) return large_segment_bytes;
    return (rounded + kMadeToMeasureRounding - 1) / kMadeToMeasureRounding * kMadeToMeasureRounding;
  }
  [[nodiscard]] uint64_t PageBytes(bool large) const {
    return large ? large_segment_bytes : kSmallSegmentBytes;
  }

 private:
  static size_t Bucket(uint64_t bytes) {
    const int power = std::bit_width(bytes) - 1;
    return power <= 20                                          ? 0
           : static_cast<size_t>(power - 20) < kRoundingBuckets ? power - 20
                                                                : kRoundingBuckets - 1;
  }
  static uint64_t NextDivision(uint64_t bytes, uint64_t divisions) {
    if (std::has_single_bit(bytes)) return bytes;
    const uint64_t floor = std::bit_floor(bytes);
    const uint64_t step = floor >> (std::bit_width(divisions) - 1);
    if (step == 0) return 2 * floor;
    return (bytes + step - 1) / step * step;
  }
};

}  // namespace vramscope::fragmentation
