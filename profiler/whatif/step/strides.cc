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

// infer_dense_strides in aten/src/ATen/ExpandUtils.cpp: a dimension without distance between its elements, of
// x.expand(), stays where it is.
Extents StridesOfResult(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  std::vector<size_t> order(sizes.size());  // the innermost first
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

int64_t ElementsSpanned(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  int64_t last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * strides[d];
  return last + 1;
}

bool LiesChannelsLast(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  if (sizes.size() != 4 || strides.size() != 4) return false;
  const int64_t sorted[] = {sizes[0], sizes[2], sizes[3], sizes[1]};
  const int64_t distances[] = {strides[0], strides[2], strides[3], strides[1]};
  return LiesWithoutGaps(sorted, distances);
}

bool ObeysLayout(std::span<const int64_t> sizes, std::span<const int64_t> gradient,
                 std::span<const int64_t> leaf) {
  if (gradient.size() != sizes.size() || leaf.size() != sizes.size()) return false;
  int64_t elements = 1;
  for (const int64_t size : sizes) elements *= size;
  if (ElementsSpanned(sizes, leaf) != elements)
    return LiesWithoutGaps(sizes, gradient);  // the leaf is not dense
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] != 1 && gradient[d] != leaf[d]) return false;
  return true;
}

bool IsExpanded(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t size) {
  for (size_t d = 0; d < std::min(sizes.size(), strides.size()); ++d) {
    if (sizes[d] == size && strides[d] == 0) return true;
  }
  return false;
}

std::optional<Extents> StridesOfView(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                                     std::span<const int64_t> other) {
  Extents result(other.size(), 1);
  if (sizes.empty()) return result;
  size_t next = other.size();  // of `other`, those from here on have their strides
  int64_t inner = strides.back(), together = 1, shown = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    together *= sizes[i];
    // Dimensions that lie in each other are one.
    if (i > 0 && (sizes[i - 1] == 1 || strides[i - 1] == together * inner)) continue;
    while (next > 0 && (shown < together || other[next - 1] == 1)) {
      --next;
      result[next] = shown * inner;
      shown *= other[next];
    }
    if (shown != together) return std::nullopt;
    if (i > 0) inner = strides[i - 1], together = 1, shown = 1;
  }
  return next == 0 ? std::optional(result) : std::nullopt;
}

}  // namespace vramscope::whatif
