// SPDX-License-Identifier: Apache-2.0
// Offline packing ("dynamic storage allocation"). Lifetimes are fixed. Offsets are chosen so that the highest
// end is as low as possible, without overlap in time and space. NP-complete (Garey and Johnson, SR2).
//
//   offset ▲   ┌──────┐┌────┐
//          │ ┌─┴──┐ C ││ D  │        height = the highest end of all
//          │ │ A  │ ┌─┴┴──┐ │        lower bound = most bytes alive at one time: no allocator can do with
//          └─┴────┴─┴──B──┴─┴─► time               less
//
// A block lives in [begin, end). One that ends at 5 and one that begins at 5 may share an offset.
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

// Begins and ends of items, in order of time. Items with 0 bytes have no edges. O(n log n).
struct Edge {
  int64_t time;
  bool begins;
  uint32_t item;
};
[[nodiscard]] std::vector<Edge> EdgesOf(std::span<const Item> items);

// Most bytes alive at one time. O(n log n).
[[nodiscard]] uint64_t LowerBound(std::span<const Item> items);

// The maximal sets of items alive at the same time, in order of time. An item is in the sections [first,
// last]. Items overlap in time exactly if they share a section. Items with 0 bytes are in no section (first >
// last).
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
