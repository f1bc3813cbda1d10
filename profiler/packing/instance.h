// SPDX-License-Identifier: Apache-2.0
// The packing problem ("offline dynamic storage allocation"). Each item has a size and a fixed lifetime. The
// task is to choose an offset for each item. Items that are alive at the same time must not overlap in space,
// and the height should be as low as possible. The problem is NP-complete (Garey and Johnson, SR2).
//
//   offset ▲   ┌──────┐┌────┐
//          │ ┌─┴──┐ C ││ D  │        height = highest end of all items
//          │ │ A  │ ┌─┴┴──┐ │        lower bound = most bytes alive at one time; no packing has a
//          └─┴────┴─┴──B──┴─┴─► time               lower height
//
// An item is alive in [begin, end). An item that ends at 5 and an item that begins at 5 may have the same
// offset.
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

struct Packing {
  std::vector<uint64_t> offsets;
  uint64_t height = 0;
};

// The begin or the end of an item. EdgesOf returns the edges in order of time. Items with 0 bytes have no
// edges. O(n log n).
struct Edge {
  int64_t time;
  bool begins;
  uint32_t item;
};
[[nodiscard]] std::vector<Edge> EdgesOf(std::span<const Item> items);

// Returns the most bytes that are alive at one time. O(n log n).
[[nodiscard]] uint64_t LowerBound(std::span<const Item> items);

// A section is a maximal set of items that are alive at the same time. Sections are numbered in order of
// time. An item is in all sections from `first` to `last`. Two items overlap in time if and only if they
// share a section. Items with 0 bytes are in no section: `first` is greater than `last`.
struct Sections {
  struct Span {
    uint32_t first = 1;
    uint32_t last = 0;
  };
  std::vector<Span> spans;  // one span per item
  uint32_t count = 0;
};
[[nodiscard]] Sections FindSections(std::span<const Item> items);

}  // namespace vramscope::packing
