// SPDX-License-Identifier: Apache-2.0
// Parses PYTORCH_CUDA_ALLOC_CONF into Settings, by the rules of the PyTorch release that reads the string.
//
// Example: "max_split_size_mb:20" is an error in 2.6 and legal in 2.9. If PyTorch would reject a string, it
// is rejected here too, with an error that names the key.
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
// Memory size that is assumed if the trace does not contain the device's size. The size determines only the
// address range of expandable segments.
constexpr uint64_t kUnknownDeviceBytes = 80 * kGiB;
constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

// Number of size buckets for roundup_power2_divisions. The first bucket is for sizes below 2 MiB, the second
// for sizes from 2 MiB to below 4 MiB, and so on. The last bucket is for all larger sizes.
constexpr size_t kRoundingBuckets = 16;

// Address space that is reserved for one expandable segment. By default, it is 9/8 of the device's memory.
struct AddressReserve {
  bool is_share = true;
  double value = 0;  // a fraction of the device's memory if is_share, otherwise GiB
};

struct Settings {
  uint64_t max_split_bytes = kUnlimited;
  uint64_t max_non_split_rounding_bytes = 20 * kMiB;
  uint64_t large_segment_bytes = 20 * kMiB;
  std::array<uint64_t, kRoundingBuckets> roundup_power2_divisions{};  // 0 or 1 = rounding to 512 only
  uint64_t roundup_bypass_bytes = kUnlimited;                         // only in PyTorch before 2.0
  double garbage_collection_threshold = 0;                            // 0 = off
  double per_process_memory_fraction = 1;
  std::optional<AddressReserve> expandable_reserve;
  bool expandable_segments = false;
  bool throw_on_cudamalloc_oom = false;
  bool graph_capture_record_stream_reuse = false;
  bool release_lock_on_cudamalloc = false;
  bool cuda_malloc_async = false;  // backend:cudaMallocAsync, whose allocator is not modeled

  // One sentence for each setting that does not affect device memory, such as "pinned_num_register_threads:
  // of pinned host memory, ignored".
  std::vector<std::string> notes;
};

// Returns the settings of a program at its start. An empty string gives the defaults. An error contains the
// key.
[[nodiscard]] Result<Settings> ParseSettings(std::string_view text, const Release& release);

// Returns the settings after torch.cuda.memory._set_allocator_settings(`text`). Keys that are not in `text`
// keep their `old` value. There are three exceptions, which are reset to their defaults: max_split_size_mb,
// roundup_power2_divisions and garbage_collection_threshold. per_process_memory_fraction has no effect here.
[[nodiscard]] Result<Settings> ChangeSettings(const Settings& old, std::string_view text,
                                              const Release& release);

}  // namespace vramscope::allocator
