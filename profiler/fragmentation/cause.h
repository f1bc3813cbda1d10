// SPDX-License-Identifier: Apache-2.0
// The causes of fragmentation: key, name, meaning and color of each member of Decomposition.
//
// The colors are Okabe and Ito's palette for color-blind readers (jfly.uni-koeln.de/color). Small causes are
// gray.
#pragma once

#include <array>
#include <cstdint>

#include "profiler/fragmentation/measure.h"

namespace vramscope::fragmentation {

struct Cause {
  const char* key;  // key in JSON
  const char* name;
  const char* meaning;
  uint32_t rgb;
  uint64_t Decomposition::*bytes;
  const char* of_bfc = nullptr;  // meaning for TensorFlow's allocator, if different

  [[nodiscard]] const char* MeaningFor(allocator::Model model) const {
    return model == allocator::Model::kBfc && of_bfc != nullptr ? of_bfc : meaning;
  }
};

inline constexpr std::array kCauses = {
    Cause{"pinned_bytes", "pinned", "free, in segments of live blocks", 0xD55E00, &Decomposition::pinned},
    Cause{"releasable_bytes", "releasable", "free segments and pages: empty_cache returns them", 0x009E73,
          &Decomposition::releasable, "free regions: only garbage collection returns them"},
    Cause{"small_pool_stranding_bytes", "small pool", "free, serves requests up to 1 MiB only", 0xE69F00,
          &Decomposition::small_pool_stranding},
    Cause{"stream_isolation_bytes", "other streams", "free, serves requests of another stream only", 0x0072B2,
          &Decomposition::stream_isolation},
    Cause{"pool_isolation_bytes", "private pools", "free, serves a CUDA graph or MemPool only", 0x56B4E9,
          &Decomposition::pool_isolation},
    Cause{"pending_free_bytes", "pending frees", "freed, in use by another stream", 0xCC79A7,
          &Decomposition::pending_frees},
    Cause{"slack_bytes", "slack", "rest of a block too small to split", 0xF0E442, &Decomposition::slack},
    Cause{"rounding_power2_bytes", "power-of-two rounding", "by roundup_power2_divisions", 0xB0B7C3,
          &Decomposition::rounding_power2},
    Cause{"rounding_512_bytes", "rounding", "up to a multiple of 512 bytes", 0x808A99,
          &Decomposition::rounding_512, "up to a multiple of 256 bytes"},
};

}  // namespace vramscope::fragmentation
