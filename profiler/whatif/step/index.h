// SPDX-License-Identifier: Apache-2.0
// A typed index into one of the lists of a step. If it is used with another list, the code does not compile.
//
//   const OpIndex op = step.blocks[block].op;   // block: BlockIndex
//   step.ops[op]                                // fine
//   step.blocks[op]                             // does not compile
//
// An index converts to a number implicitly, for use with other lists that have one element per block. A
// number converts to an index only explicitly, BlockIndex(i), except for literals: step.blocks[0].
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "profiler/model/run.h"

namespace vramscope::whatif {

template <class Item>
class Index {
 public:
  constexpr Index() = default;  // no element; equal to model::kNone
  template <std::integral Number>
  constexpr explicit(!std::same_as<Number, int>) Index(Number at)  // NOLINT: a literal is an int
      : at_(static_cast<uint32_t>(at)) {}

  constexpr operator uint32_t() const { return at_; }  // NOLINT: implicit on purpose
  [[nodiscard]] constexpr Index Next() const { return Index(at_ + 1); }

 private:
  uint32_t at_ = model::kNone;
};

// The indices [first, last).
template <class Item>
struct IndexRange {
  struct Iterator {
    uint32_t at = 0;
    Index<Item> operator*() const { return Index<Item>(at); }
    Iterator& operator++() { return ++at, *this; }
    bool operator==(const Iterator&) const = default;
  };
  uint32_t first = 0;
  uint32_t last = 0;
  [[nodiscard]] Iterator begin() const { return {first}; }
  [[nodiscard]] Iterator end() const { return {last}; }
};

// A vector whose elements are accessed by Index<Item>.
template <class Item>
class Indexed : public std::vector<Item> {
 public:
  using std::vector<Item>::vector;

  [[nodiscard]] Item& operator[](Index<Item> at) { return std::vector<Item>::operator[](at); }
  [[nodiscard]] const Item& operator[](Index<Item> at) const { return std::vector<Item>::operator[](at); }
  [[nodiscard]] Item& operator[](std::integral auto at) { return (*this)[Index<Item>(at)]; }
  [[nodiscard]] const Item& operator[](std::integral auto at) const { return (*this)[Index<Item>(at)]; }

  // Returns all indices in order. The list must not change during the loop.
  [[nodiscard]] IndexRange<Item> Indices() const { return {0, static_cast<uint32_t>(this->size())}; }
  // Returns the index that the next added element gets.
  [[nodiscard]] Index<Item> Next() const { return Index<Item>(this->size()); }
};

struct StepBlock;
struct Op;
struct Node;
struct ModuleCall;
using BlockIndex = Index<StepBlock>;  // index in Step::blocks
using OpIndex = Index<Op>;            // index in Step::ops
using NodeIndex = Index<Node>;        // index in Step::nodes
using CallIndex = Index<ModuleCall>;  // index in Step::modules

}  // namespace vramscope::whatif

template <class Item>
struct std::hash<vramscope::whatif::Index<Item>> {
  size_t operator()(vramscope::whatif::Index<Item> index) const { return std::hash<uint32_t>()(index); }
};
