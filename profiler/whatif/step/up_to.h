// SPDX-License-Identifier: Apache-2.0
// Whole units: what allocators and kernels fill sizes up to.
#pragma once

#include <cstdint>

namespace vramscope::whatif {

// What PyTorch's allocator rounds requests up to: its kMinBlockSize.
inline constexpr uint64_t kBlockUnit = 512;

// `value`, or the next multiple of `unit`, which is not 0.
[[nodiscard]] constexpr uint64_t UpTo(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace vramscope::whatif
