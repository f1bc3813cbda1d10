// SPDX-License-Identifier: Apache-2.0
// When a tensor can be shown in another shape where it lies, and when that takes a copy.
//
// Why: which of attention's operands and gradients are copied depends on nothing else. Heads that were put in
// front of rows by a transpose cannot be counted together with the samples, heads made so from the start can:
//
//   [batch, heads, rows, width], strides   heads x rows x width, rows x width, width, 1    as one dimension
//                                          rows x heads x width, width, heads x width, 1   only in a copy
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace vramscope::whatif {

using Extents = std::vector<int64_t>;

// Without gaps, the last dimension first.
[[nodiscard]] Extents StridesWithoutGaps(std::span<const int64_t> sizes);
// Whether a tensor lies so: PyTorch's is_contiguous().
[[nodiscard]] bool LiesWithoutGaps(std::span<const int64_t> sizes, std::span<const int64_t> strides);
// From its first element to its last, both counted: of what is dense, in any order, as many as it has. Sizes
// of 1 at least.
[[nodiscard]] int64_t ElementsSpanned(std::span<const int64_t> sizes, std::span<const int64_t> strides);
// Whether images lie so that each point has its channels side by side: is_contiguous(channels_last), of four
// dimensions alone.
[[nodiscard]] bool LiesChannelsLast(std::span<const int64_t> sizes, std::span<const int64_t> strides);
// Whether a leaf takes a gradient as it is, where its own elements lie so: PyTorch copies what does not lie
// as they do (torch/csrc/autograd/utils/grad_layout_contract.h).
[[nodiscard]] bool ObeysLayout(std::span<const int64_t> sizes, std::span<const int64_t> gradient,
                               std::span<const int64_t> leaf);
// Whether a dimension of this size has no distance between its elements: x.expand(size, ...).
[[nodiscard]] bool IsExpanded(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t size);
// Those that a tensor computed from one with these strides gets: without gaps, in the same order.
[[nodiscard]] Extents StridesOfResult(std::span<const int64_t> sizes, std::span<const int64_t> strides);
// Those of the same elements in other sizes; nothing where they must be copied. PyTorch: computeStride in
// aten/src/ATen/TensorUtils.cpp.
[[nodiscard]] std::optional<Extents> StridesOfView(std::span<const int64_t> sizes,
                                                   std::span<const int64_t> strides,
                                                   std::span<const int64_t> other);

}  // namespace vramscope::whatif
