// SPDX-License-Identifier: Apache-2.0
// Computes strides of tensors: whether a tensor has gaps in memory, and the strides of results computed from
// it.
//
// A tensor with gaps loses its gaps when it is offloaded to the host and loaded again. After that, backward
// needs no contiguous copy of the tensor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vramscope::whatif {

using Extents = std::vector<int64_t>;

// Returns the strides of a contiguous tensor; the last dimension has stride 1.
[[nodiscard]] Extents StridesWithoutGaps(std::span<const int64_t> sizes);
// Returns the same as PyTorch's is_contiguous().
[[nodiscard]] bool LiesWithoutGaps(std::span<const int64_t> sizes, std::span<const int64_t> strides);
// Returns the strides of a result that PyTorch computes from a tensor with these strides: the same order of
// dimensions, without gaps.
[[nodiscard]] Extents StridesOfResult(std::span<const int64_t> sizes, std::span<const int64_t> strides);

}  // namespace vramscope::whatif
