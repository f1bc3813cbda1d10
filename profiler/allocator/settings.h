// SPDX-License-Identifier: Apache-2.0
// PYTORCH_CUDA_ALLOC_CONF -> Settings, parsed by the rules of the release that reads the string.
//
// Example: "max_split_size_mb:20" is an error in 2.6 and legal in 2.9. A string that PyTorch would refuse is
// refused here too, with an error that names the key.
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
// For a device whose size is not recorded. Determines only the address range of expandable segments.
constexpr uint64_t kUnknownDeviceBytes = 80 * kGiB;
constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// One divisor for each doubling of size from 1 MiB on. The first also applies to smaller sizes, the last to
// larger ones.
constexpr size_t kRoundingBuckets = 16;

// Address space for one expandable segment. Default: 9/8 of the device's memory.
struct AddressReserve {
  bool is_share = true;
  double value = 0;  // a fraction of the device's memory if is_share, otherwise GiB
};

struct Settings {
  uint64_t max_split_bytes = kUnlimited;
  uint64_t max_non_split_rounding_bytes = 20 * kMiB;
  uint64_t large_segment_bytes = 20 * kMiB;
  std::array<uint64_t, kRoundingBuckets> roundup_power2_divisions{};  // 0, 1 = plain rounding to 512
  uint64_t roundup_bypass_bytes = kUnlimited;                         // PyTorch before 2.0
  double garbage_collection_threshold = 0;                            // 0 = off
  double per_process_memory_fraction = 1;
  std::optional<AddressReserve> expandable_reserve;
  bool expandable_segments = false;
  bool throw_on_cudamalloc_oom = false;
  bool graph_capture_record_stream_reuse = false;
  bool release_lock_on_cudamalloc = false;
  bool cuda_malloc_async = false;  // backend:cudaMallocAsync: nothing to model

  // Settings that do not affect device memory: "pinned_num_register_threads: of pinned host memory, ignored".
  std::vector<std::string> notes;
};

// The settings of a program at its start. "" is all defaults. An error contains the key.
[[nodiscard]] Result<Settings> ParseSettings(std::string_view text, const Release& release);

// The result of torch.cuda.memory._set_allocator_settings on the `old` settings. Keys that are not in `text`
// keep their value. Exceptions, reset to their default each time: max_split_size_mb,
// roundup_power2_divisions, garbage_collection_threshold. per_process_memory_fraction has no effect here.
[[nodiscard]] Result<Settings> ChangeSettings(const Settings& old, std::string_view text,
                                              const Release& release);

}  // namespace vramscope::allocator
