// SPDX-License-Identifier: Apache-2.0
// The stack of the ranges that a thread has begun and not ended. The innermost range is the last entry.
//
// The end of a range finds its begin in O(1), even among a million open ranges.
//
//   Begin(A) Begin(B) Begin(A) Begin(C)     last_: A -> 3, B -> 2, C -> 4; `below` of the second A is 1
//   EndFrom(2)                              last_: A -> 1, B -> 2
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/model/flat_map.h"

namespace vramscope::model {

template <typename T>
class OpenStack {
 public:
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] size_t size() const { return entries_.size(); }
  [[nodiscard]] const T& operator[](size_t place) const { return entries_[place].value; }
  [[nodiscard]] const T& back() const { return entries_.back().value; }

  // Adds an entry, the new innermost one. Find(key) then returns its position.
  void Begin(uint64_t key, const T& value) {
    const auto place = static_cast<uint32_t>(entries_.size() + 1);
    const auto [last, fresh] = last_.Insert(NotZero(key), place);
    entries_.push_back({value, NotZero(key), fresh ? 0 : *last});
    *last = place;
  }

  // Returns the position of the innermost entry with this key; size() if there is none. O(1).
  [[nodiscard]] size_t Find(uint64_t key) const {
    const uint32_t* last = last_.Find(NotZero(key));
    return last == nullptr ? size() : *last - 1;
  }

  // Removes the entry at position `place` and all entries after it.
  void EndFrom(size_t place) {
    for (; entries_.size() > place; entries_.pop_back()) {
      const Entry& entry = entries_.back();
      if (entry.below == 0) {
        last_.Erase(entry.key);
      } else {
        *last_.Insert(entry.key, 0).value = entry.below;
      }
    }
  }

 private:
  struct Entry {
    T value;
    uint64_t key;
    uint32_t below;  // position + 1 of the next outer entry with the same key; 0 = none
  };
  static uint64_t NotZero(uint64_t key) { return key == 0 ? 1 : key; }

  std::vector<Entry> entries_;
  FlatMap last_;  // key -> position + 1 of the innermost entry with this key
};

}  // namespace vramscope::model
