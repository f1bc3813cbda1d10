// SPDX-License-Identifier: Apache-2.0
// The differences between PyTorch releases in the caching allocator and in the parsing of its settings.
//
// Sources are c10/cuda/CUDACachingAllocator.cpp and the parsers CUDAAllocatorConfig.cpp and
// c10/core/AllocatorConfig.cpp of these releases. For 2.2, 2.6 and 2.15, experiments confirmed the rules.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vramscope::allocator {

// Where the `>` entry of roundup_power2_divisions begins. Up to PyTorch 2.8, `>` begins at the bucket of the
// previous key, and overwrites that bucket. Since 2.9, `>` begins at the next bucket.
enum class OpenEndedRounding : uint8_t { kOverwritesLastKey, kAfterLastKey };

struct Release {
  std::string_view name;  // the first release with these rules
  int major;
  int minor;

  // roundup_power2_divisions is one number for all sizes, and roundup_bypass_threshold_mb exists (before
  // 2.0).
  bool single_rounding;
  // `expandable`: the default pool can have expandable segments (since 2.1). `expandable_pools`: private
  // pools can have them too (since 2.5). `own_allocator_excluded`: pools with their own allocator cannot
  // (since 2.8).
  bool expandable;
  bool expandable_pools;
  bool own_allocator_excluded;
  // max_split_size_mb must be greater than 20. Since 2.9, 20 is accepted.
  bool small_split_refused;
  // Numbers in settings are parsed as int, so 2147483648 is an error.
  bool reads_int;
  // Any token is accepted in place of a colon or a comma.
  bool reads_over_punctuation;
  OpenEndedRounding open_ended_rounding;
  // A memory fraction of 1 also sets a memory limit, so garbage collection is active.
  bool fraction_always_limits;
  // If a request of the default pool would fail, pools created with use_on_oom serve it.
  bool pool_fallback;
  // torch.cuda.use_mem_pool is treated like a graph capture: PyTorch defers frees and does not wait for
  // streams.
  bool mem_pools_defer;
  // Among free blocks of equal size, the block in the oldest segment is taken; otherwise the block with the
  // lowest address.
  bool prefers_older_segments;
  // New settings reset max_non_split_rounding_mb to the large segment's size.
  bool parsing_resets_rounding;
};

// Returns the rules of a release such as "2.6.0+cu124". For an empty, unreadable or unknown newer version,
// returns the newest rules.
[[nodiscard]] const Release& ReleaseOf(std::string_view torch_version);
// All releases, oldest first.
[[nodiscard]] std::span<const Release> Releases();

}  // namespace vramscope::allocator
