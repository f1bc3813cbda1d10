// SPDX-License-Identifier: Apache-2.0
// Offline packing ("dynamic storage allocation"). The lifetimes of the blocks are fixed. The packing chooses
// offsets so that blocks alive at the same time do not overlap and the highest end is as low as possible.
// NP-complete (Garey and Johnson, SR2).
//
//   offset ▲   ┌──────┐┌────┐
//          │ ┌─┴──┐ C ││ D  │        height = the highest end of all
//          │ │ A  │ ┌─┴┴──┐ │        lower bound = most bytes alive at one time: no allocator can do with
//          └─┴────┴─┴──B──┴─┴─► time               less
//
// A block lives in [begin, end): a block that ends at 5 and one that begins at 5 may have the same offset.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vramscope::packing {

struct Item {
  int64_t begin = 0;
  int64_t end = 0;  // > begin
  uint64_t bytes = 0;
};

// One offset for each item.
struct Packing {
  std::vector<uint64_t> offsets;
  uint64_t height = 0;
};

// Where the items begin and end, in order of time. Items with 0 bytes have no edges. O(n log n).
struct Edge {
  int64_t time;
  bool begins;
  uint32_t item;
};
[[nodiscard]] std::vector<Edge> EdgesOf(std::span<const Item> items);

// The most bytes alive at one time. O(n log n).
[[nodiscard]] uint64_t LowerBound(std::span<const Item> items);

// The maximal sets of items alive at the same time, in order of time. Each item is in the sections [first,
// last]. Two items overlap in time exactly if they share a section. Items with 0 bytes are in no section
// (first > last).
struct Sections {
  struct Span {
    uint32_t first = 1;
    uint32_t last = 0;
  };
  std::vector<Span> spans;  // by item
  uint32_t count = 0;
};
[[nodiscard]] Sections FindSections(std::span<const Item> items);

}  // namespace vramscope::packing
