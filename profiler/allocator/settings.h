// SPDX-License-Identifier: Apache-2.0
// PYTORCH_CUDA_ALLOC_CONF -> Settings: the same string that PyTorch reads, by the rules of the release that
// reads it.
//
// Why by release: "max_split_size_mb:20" is an error in 2.6 and legal in 2.9, "expandable_segments" does not
// exist in 1.13, and the
// `>` of roundup_power2_divisions changed its meaning. What PyTorch would refuse is refused here too, and the
// sentence names the key.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/allocator/release.h"
#include "trace_format/result.h"

namespace vramscope::allocator {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;
// Of a device whose size is not recorded: it decides only the reach of expandable segments.
constexpr uint64_t kUnknownDeviceBytes = 80 * kGiB;
constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// One divisor for each doubling of size from 1 MiB on; the first also serves all smaller sizes, the last all
// larger ones.
constexpr size_t kRoundingBuckets = 16;

// Address space for one expandable segment, when it is not 9/8 of the device: a share of the device or bytes.
struct AddressReserve {
  bool is_share = true;
  double value = 0;  // of the device's memory, or GiB
};

struct Settings {
  uint64_t max_split_bytes = kUnlimited;
  uint64_t max_non_split_rounding_bytes = 20 * kMiB;
  uint64_t large_segment_bytes = 20 * kMiB;
  std::array<uint64_t, kRoundingBuckets> roundup_power2_divisions{};  // 0, 1 = plain rounding to 512
  uint64_t roundup_bypass_bytes = kUnlimited;                         // 1.13
  double garbage_collection_threshold = 0;                            // 0 = off
  double per_process_memory_fraction = 1;
  std::optional<AddressReserve> expandable_reserve;
  bool expandable_segments = false;
  bool throw_on_cudamalloc_oom = false;
  bool graph_capture_record_stream_reuse = false;
  bool release_lock_on_cudamalloc = false;
  bool cuda_malloc_async =
      false;  // backend:cudaMallocAsync: no segments and no blocks, nothing that this room could model

  // What was read and has no part in device memory: "pinned_num_register_threads: of pinned host memory,
  // ignored".
  std::vector<std::string> notes;
};

// Settings that a program begins with. "" is all defaults. An error is one sentence with the key in it.
[[nodiscard]] Result<Settings> ParseSettings(std::string_view text, const Release& release);

// What torch.cuda.memory._set_allocator_settings makes of the `old` ones: keys that are not in `text` keep
// their value, except those that PyTorch puts back to their default each time (max_split_size_mb,
// roundup_power2_divisions, garbage_collection_threshold). per_process_memory_fraction is read but has no
// effect: the allocator asks for it only when it is made.
[[nodiscard]] Result<Settings> ChangeSettings(const Settings& old, std::string_view text,
                                              const Release& release);

}  // namespace vramscope::allocator
