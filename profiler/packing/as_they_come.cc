// SPDX-License-Identifier: Apache-2.0
#include "profiler/packing/as_they_come.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace vramscope::packing {
namespace {

class Free {
 public:
  // The offset of a gap for `bytes`: the smallest that is large enough, or on top.
  uint64_t Take(uint64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit == by_size_.end()) return TakeTop(bytes);
    const auto [size, offset] = *fit;
    Remove(offset, size);
    if (size > bytes) Add(offset + bytes, size - bytes);
    return offset;
  }

  void GiveBack(uint64_t offset, uint64_t bytes) {
    const auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && next->first == offset + bytes) {
      bytes += next->second;
      Remove(next->first, next->second);
    }
    const auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.begin()) {
      const auto [before, size] = *std::prev(after);
      if (before + size == offset) {
        Remove(before, size);
        offset = before;
        bytes += size;
      }
    }
    Add(offset, bytes);
  }

  // Places `bytes` on top of everything.
  uint64_t Stack(uint64_t bytes) { return std::exchange(height_, height_ + bytes); }
  [[nodiscard]] uint64_t height() const { return height_; }

 private:
  // The free space directly below the top is part of the new place.
  uint64_t TakeTop(uint64_t bytes) {
    uint64_t offset = height_;
    if (!by_offset_.empty()) {
      const auto [last, size] = *std::prev(by_offset_.end());
      if (last + size == height_) {
        Remove(last, size);
        offset = last;
      }
    }
    height_ = offset + bytes;
    return offset;
  }

  void Add(uint64_t offset, uint64_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  void Remove(uint64_t offset, uint64_t bytes) {
    by_offset_.erase(offset);
    by_size_.erase({bytes, offset});
  }

  std::map<uint64_t, uint64_t> by_offset_;
  std::set<std::pair<uint64_t, uint64_t>> by_size_;
  uint64_t height_ = 0;
};

}  // namespace

Packing AsTheyCome(std::span<const Item> items, Deadline& deadline) {
  Packing packing;
  packing.offsets.resize(items.size());
  Free free;
  for (const Edge& edge : EdgesOf(items)) {
    const uint64_t bytes = items[edge.item].bytes;
    uint64_t& offset = packing.offsets[edge.item];
    constexpr uint64_t kWork = 16;
    if (deadline.Passed(kWork)) {
      if (edge.begins) offset = free.Stack(bytes);
    } else if (edge.begins) {
      offset = free.Take(bytes);
    } else {
      free.GiveBack(offset, bytes);
    }
  }
  packing.height = free.height();
  return packing;
}

}  // namespace vramscope::packing
