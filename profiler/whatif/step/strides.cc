// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/strides.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace vramscope::whatif {

Extents StridesWithoutGaps(std::span<const int64_t> sizes) {
  Extents strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<int64_t>(sizes[i], 1);
  return strides;
}

bool LiesWithoutGaps(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  const Extents wanted = StridesWithoutGaps(sizes);
  if (strides.size() != sizes.size()) return false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1 && strides[d] != wanted[d]) return false;
  }
  return true;
}

// infer_dense_strides in aten/src/ATen/ExpandUtils.cpp: a dimension of stride 0, from x.expand(), stays at
// its place.
Extents StridesOfResult(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  std::vector<size_t> order(sizes.size());  // innermost first
  std::iota(order.rbegin(), order.rend(), 0);
  for (size_t i = 1; i < order.size(); ++i) {
    size_t moving = i;
    for (size_t inner = i; inner-- > 0;) {
      const size_t a = order[inner], b = order[moving];
      if (strides[a] == 0 || strides[b] == 0) continue;
      if (strides[a] < strides[b]) break;
      if (strides[a] == strides[b] && sizes[a] <= sizes[b]) continue;
      std::swap(order[inner], order[moving]);
      moving = inner;
    }
  }
  Extents result(sizes.size());
  int64_t next = 1;
  for (const size_t dimension : order) {
    result[dimension] = next;
    next *= std::max<int64_t>(sizes[dimension], 1);
  }
  return result;
}

}  // namespace vramscope::whatif
