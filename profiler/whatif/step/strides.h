// SPDX-License-Identifier: Apache-2.0
// How a tensor lies in memory: whether without gaps, and how a result does that is computed from it.
//
// Why: what lies with gaps is packed before it goes to the host, and comes back without; then backward has no
// copy to make of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vramscope::whatif {

using Extents = std::vector<int64_t>;

// Without gaps, the last dimension first.
[[nodiscard]] Extents StridesWithoutGaps(std::span<const int64_t> sizes);
// Whether a tensor lies so: PyTorch's is_contiguous().
[[nodiscard]] bool LiesWithoutGaps(std::span<const int64_t> sizes, std::span<const int64_t> strides);
// Those that a tensor computed from one with these strides gets: without gaps, in the same order.
[[nodiscard]] Extents StridesOfResult(std::span<const int64_t> sizes, std::span<const int64_t> strides);

}  // namespace vramscope::whatif
