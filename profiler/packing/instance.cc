// SPDX-License-Identifier: Apache-2.0
#include "profiler/packing/instance.h"

#include <algorithm>

namespace vramscope::packing {

std::vector<Edge> EdgesOf(std::span<const Item> items) {
  std::vector<Edge> edges;
  edges.reserve(items.size() * 2);
  for (uint32_t i = 0; i < items.size(); ++i) {
    if (items[i].bytes == 0 || items[i].begin >= items[i].end) continue;
    edges.push_back({items[i].begin, true, i});
    edges.push_back({items[i].end, false, i});
  }
  // Ends come first: intervals are half-open.
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.time != b.time ? a.time < b.time : (a.begins != b.begins ? !a.begins : a.item < b.item);
  });
  return edges;
}

uint64_t LowerBound(std::span<const Item> items) {
  uint64_t now = 0;
  uint64_t most = 0;
  for (const Edge& edge : EdgesOf(items)) {
    now = edge.begins ? now + items[edge.item].bytes : now - items[edge.item].bytes;
    most = std::max(most, now);
  }
  return most;
}

Sections FindSections(std::span<const Item> items) {
  Sections sections;
  sections.spans.resize(items.size());
  bool grew = false;  // something has begun since the last section
  for (const Edge& edge : EdgesOf(items)) {
    if (edge.begins) {
      sections.spans[edge.item].first = sections.count;
      grew = true;
      continue;
    }
    if (grew) ++sections.count;
    grew = false;
    sections.spans[edge.item].last = sections.count - 1;
  }
  return sections;
}

}  // namespace vramscope::packing
