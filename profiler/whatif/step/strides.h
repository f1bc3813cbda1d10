// SPDX-License-Identifier: Apache-2.0
// The layout of a tensor in memory: whether it has gaps, and the strides of a result computed from it.
//
// Why: a tensor with gaps is packed before it moves to the host, and comes back without gaps. Backward then
// needs no contiguous copy of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vramscope::whatif {

using Extents = std::vector<int64_t>;

// Strides without gaps; the last dimension has stride 1.
[[nodiscard]] Extents StridesWithoutGaps(std::span<const int64_t> sizes);
// True if a tensor is laid out this way: PyTorch's is_contiguous().
[[nodiscard]] bool LiesWithoutGaps(std::span<const int64_t> sizes, std::span<const int64_t> strides);
// Strides of a result computed from a tensor with these strides: without gaps, in the same order.
[[nodiscard]] Extents StridesOfResult(std::span<const int64_t> sizes, std::span<const int64_t> strides);

}  // namespace vramscope::whatif
