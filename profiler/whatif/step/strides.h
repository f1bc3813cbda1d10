// SPDX-License-Identifier: Apache-2.0
// The memory layout of a tensor: gaps, and the strides of results computed from it.
//
// A tensor with gaps is packed for the move to the host, and comes back without gaps. Backward then needs no
// contiguous copy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vramscope::whatif {

using Extents = std::vector<int64_t>;

// Strides without gaps; the last dimension has stride 1.
[[nodiscard]] Extents StridesWithoutGaps(std::span<const int64_t> sizes);
// PyTorch's is_contiguous().
[[nodiscard]] bool LiesWithoutGaps(std::span<const int64_t> sizes, std::span<const int64_t> strides);
// Strides of a result computed from a tensor with these strides: without gaps, in the same order.
[[nodiscard]] Extents StridesOfResult(std::span<const int64_t> sizes, std::span<const int64_t> strides);

}  // namespace vramscope::whatif
