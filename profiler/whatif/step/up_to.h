// SPDX-License-Identifier: Apache-2.0
// Rounds sizes up to the units of allocators and kernels.
#pragma once

#include <cstdint>

namespace vramscope::whatif {

// PyTorch's allocator rounds requests up to multiples of this number of bytes (kMinBlockSize).
inline constexpr uint64_t kBlockUnit = 512;

// Returns `value` rounded up to a multiple of `unit`. `unit` must not be 0.
[[nodiscard]] constexpr uint64_t UpTo(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace vramscope::whatif
