// SPDX-License-Identifier: Apache-2.0
// How PyTorch's caching allocator differs from release to release. Sources: c10/cuda/CUDACachingAllocator.cpp
// and the parsers CUDAAllocatorConfig.cpp and c10/core/AllocatorConfig.cpp of the releases named. For 2.2,
// 2.6 and 2.15 also experiments.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vramscope::allocator {

// The first bucket that a `>` entry of roundup_power2_divisions fills. Up to 2.8: the bucket of the key
// before it.
enum class OpenEndedRounding : uint8_t { kOverwritesLastKey, kAfterLastKey };

struct Release {
  std::string_view name;  // the first release with these rules
  int major;
  int minor;

  // One divisor for all sizes, and roundup_bypass_threshold_mb (1.12, 1.13).
  bool single_rounding;
  // Expandable segments in the default pool (since 2.1) and in private pools (since 2.5). Since 2.8 not in
  // pools that have their own allocator.
  bool expandable;
  bool expandable_pools;
  bool own_allocator_excluded;
  // max_split_size_mb must be above 20. Later releases accept 20.
  bool small_split_refused;
  // Numbers in settings are ints: 2147483648 is refused.
  bool reads_int;
  // Any token is accepted in place of a colon or a comma.
  bool reads_over_punctuation;
  OpenEndedRounding open_ended_rounding;
  // A memory fraction of 1 also sets a limit, so garbage collection counts ages.
  bool fraction_always_limits;
  // Pools created with use_on_oom serve requests of the default pool that would fail.
  bool pool_fallback;
  // torch.cuda.use_mem_pool counts as a capture: PyTorch defers frees and does not wait for streams.
  bool mem_pools_defer;
  // Among free blocks of equal size, the block in the oldest segment is taken. Otherwise: the lowest address.
  bool prefers_older_segments;
  // New settings reset max_non_split_rounding_mb to the large segment's size.
  bool parsing_resets_rounding;
};

// The rules of a release such as "2.6.0+cu124". An empty, unreadable or newer version gets the newest rules.
[[nodiscard]] const Release& ReleaseOf(std::string_view torch_version);
// All releases, oldest first.
[[nodiscard]] std::span<const Release> Releases();

}  // namespace vramscope::allocator
