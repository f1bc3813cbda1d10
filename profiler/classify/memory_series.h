// SPDX-License-Identifier: Apache-2.0
// Allocated bytes by category over the whole run, for drawing a chart at any zoom. Each pixel column shows
// the moment with the most bytes in its time range, and the lowest value. Both are exact.
//
// The changes of the run (deltas) are stored in groups of 32, called leaves. Each leaf stores the bytes by
// category before its first delta, and the minimum and maximum of the total within the leaf. A tree over the
// leaves finds the extremes of any range of leaves (min_max_tree.h).
//
//   bytes  ▂▂▆█▆▂▂▃▇█▅▂  ...
//          └ leaf ┘└ leaf ┘
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/classify/categories.h"
#include "profiler/model/run.h"
#include "profiler/timeline/min_max_tree.h"

namespace vramscope::classify {

// One bit for each category.
using CategoryMask = uint32_t;
inline constexpr CategoryMask kAllCategories = (CategoryMask{1} << kCategoryCount) - 1;
constexpr CategoryMask MaskOf(Category category) {
  return CategoryMask{1} << static_cast<unsigned>(category);
}

struct MemoryColumn {
  uint64_t low = 0;
  uint64_t high = 0;
  model::EventIndex high_event = 0;  // the event after which `high` bytes were first allocated
  CategoryBytes categories = {};     // bytes after high_event, of all categories
};

class MemorySeries {
 public:
  // Reads the run once and keeps no reference to it. If the allocation of a block was not recorded, its bytes
  // are unattributed.
  MemorySeries(const model::Run& run, const Categories& categories, model::DeviceIndex device);

  // A set of categories, and the minimum and maximum of the categories' sum for each leaf.
  struct Choice {
    CategoryMask categories = 0;
    timeline::MinMaxTree leaves;
  };
  // Computes a Choice. O(deltas): 5 ms per million. May be called from any thread.
  [[nodiscard]] Choice Count(CategoryMask categories) const;
  // Selects the categories that `low` and `high` are computed from.
  void Show(Choice choice) { shown_ = std::move(choice); }
  void Show(CategoryMask categories) { Show(Count(categories)); }
  [[nodiscard]] CategoryMask shown() const { return shown_.categories; }

  // Returns the column for the states after events `first` to `last`, both included. Requires first <= last.
  [[nodiscard]] MemoryColumn Over(model::EventIndex first, model::EventIndex last) const;
  // Computes many columns from left to right, faster than MemorySeries::Over. Each column begins where the
  // previous column ends, or one event later.
  class Walk {
   public:
    explicit Walk(const MemorySeries& series) : series_(series) {}
    [[nodiscard]] MemoryColumn Over(model::EventIndex first, model::EventIndex last);

   private:
    const MemorySeries& series_;
    size_t deltas_ = 0;  // deltas up to the end of the last column
    int64_t total_ = 0;  // total at that point
  };
  // Bytes by category after `event`.
  [[nodiscard]] CategoryBytes After(model::EventIndex event) const;
  // The highest total of the shown categories in the run.
  [[nodiscard]] uint64_t peak() const;
  [[nodiscard]] size_t delta_count() const { return deltas_.size(); }

 private:
  static constexpr size_t kLeaf = 32;
  static constexpr uint8_t kNowhere = kCategoryCount;  // not allocated

  // An allocation, a free, or a change of category. For an allocation, `from` is kNowhere. For a free, `to`
  // is kNowhere.
  struct Delta {
    model::EventIndex event = 0;
    uint32_t bytes_low = 0;
    uint16_t bytes_high = 0;
    uint8_t from = kNowhere;
    uint8_t to = kNowhere;

    [[nodiscard]] uint64_t bytes() const { return uint64_t{bytes_high} << 32 | bytes_low; }
  };
  static_assert(sizeof(Delta) == 12);

  class Builder;

  static void Apply(const Delta& delta, CategoryBytes& bytes);
  // The change in the sum of `categories`.
  static int64_t Change(const Delta& delta, CategoryMask categories);
  static int64_t Sum(const CategoryBytes& bytes, CategoryMask categories);
  // Number of deltas with event <= `event`.
  [[nodiscard]] size_t CountUntil(model::EventIndex event) const;
  [[nodiscard]] CategoryBytes BytesAfter(size_t deltas) const;
  // True if the state after `deltas` deltas is the state after a complete event.
  [[nodiscard]] bool Whole(size_t deltas) const {
    return deltas == deltas_.size() || deltas == 0 || deltas_[deltas].event != deltas_[deltas - 1].event;
  }
  // Adds the states after `first` + 1 to `last` deltas to `extremes`. `total`: the sum after `first` deltas.
  // Returns the sum after `last` deltas.
  int64_t Scan(size_t first, size_t last, CategoryMask categories, int64_t total,
               timeline::Extremes& extremes) const;

  model::Chunked<Delta> deltas_;
  std::vector<model::EventIndex> leaf_event_;    // by leaf: event of its first delta
  model::Chunked<CategoryBytes, 8> leaf_bytes_;  // by leaf: bytes by category before it
  Choice shown_;
};

// The order in which categories are stacked, from the bottom: long-lived categories come first.
[[nodiscard]] const std::array<Category, kCategoryCount>& StackOrder();

}  // namespace vramscope::classify
