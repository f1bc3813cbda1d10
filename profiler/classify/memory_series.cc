// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/memory_series.h"

#include <algorithm>
#include <bit>

namespace vramscope::classify {
namespace {

using model::BlockId;
using model::EventIndex;
using timeline::Extremes;
using timeline::MinMaxTree;

// One change of a block's category.
struct Move {
  EventIndex event = 0;
  BlockId block = 0;
  uint64_t bytes = 0;
  uint8_t from = 0;
  uint8_t to = 0;
};

uint8_t Number(Category category) { return static_cast<uint8_t>(category); }

// The future moves of live blocks, as a queue with the earliest first. It holds a few hundred at a time. The
// alternative would be to store and sort all moves of a long run.
class Moves {
 public:
  void Add(BlockId id, const model::Block& block, const Life& life) {
    for (size_t i = 1; i < life.size() && life[i].begin < block.free_event; ++i) {
      const uint8_t from = Number(life[i - 1].category);
      const uint8_t to = Number(life[i].category);
      if (from == to) continue;
      moves_.push_back({life[i].begin, id, block.size, from, to});
      std::push_heap(moves_.begin(), moves_.end(), Later);
    }
  }
  // kNever if there are none.
  [[nodiscard]] EventIndex next() const { return moves_.empty() ? model::kNever : moves_.front().event; }
  Move Take() {
    std::pop_heap(moves_.begin(), moves_.end(), Later);
    const Move move = moves_.back();
    moves_.pop_back();
    return move;
  }

 private:
  // Moves at the same event are in block order.
  static bool Later(const Move& a, const Move& b) {
    return a.event != b.event ? a.event > b.event : a.block > b.block;
  }

  std::vector<Move> moves_;
};

}  // namespace

// Appends deltas in order, and computes the extremes of each leaf over all categories.
class MemorySeries::Builder {
 public:
  explicit Builder(MemorySeries& series) : series_(series) {}

  void Add(EventIndex event, uint64_t bytes, uint8_t from, uint8_t to) {
    if (bytes == 0) return;
    if (event != last_event_) EndState();
    last_event_ = event;
    if (series_.deltas_.size() % kLeaf == 0) {
      series_.leaf_event_.push_back(event);
      series_.leaf_bytes_.push_back(bytes_);
      leaves_.emplace_back();
    }
    const Delta delta = {event, static_cast<uint32_t>(bytes), static_cast<uint16_t>(bytes >> 32), from, to};
    series_.deltas_.push_back(delta);
    Apply(delta, bytes_);
    total_ += Change(delta, kAllCategories);
  }
  timeline::MinMaxTree Finish() && {
    EndState();
    return MinMaxTree(std::move(leaves_));
  }

 private:
  // Call only after the last delta of an event.
  void EndState() {
    if (!leaves_.empty()) leaves_.back().Add(total_, static_cast<uint32_t>(series_.deltas_.size()));
  }

  MemorySeries& series_;
  std::vector<Extremes> leaves_;
  CategoryBytes bytes_ = {};
  int64_t total_ = 0;
  EventIndex last_event_ = model::kNever;
};

MemorySeries::MemorySeries(const model::Run& run, const Categories& categories,
                           model::DeviceIndex device_index) {
  const model::Device& device = run.devices[device_index];
  constexpr uint8_t kUnattributed = static_cast<uint8_t>(Category::kUnattributed);
  Builder builder(*this);
  Moves moves;
  auto unseen = device.unseen.begin();
  int64_t unseen_bytes = 0;
  const auto add_unseen = [&] {
    const int64_t change = unseen->value - unseen_bytes;
    unseen_bytes = unseen->value;
    const auto bytes = static_cast<uint64_t>(change < 0 ? -change : change);
    builder.Add(unseen->event, bytes, change < 0 ? kUnattributed : kNowhere,
                change < 0 ? kNowhere : kUnattributed);
    ++unseen;
  };
  const auto add_before = [&](EventIndex event) {
    while (true) {
      const EventIndex unseen_event = unseen == device.unseen.end() ? model::kNever : unseen->event;
      if (std::min(moves.next(), unseen_event) >= event) return;
      if (unseen_event < moves.next()) {
        add_unseen();
      } else {
        const Move move = moves.Take();
        builder.Add(move.event, move.bytes, move.from, move.to);
      }
    }
  };
  for (const model::Change& change : device.changes) {
    add_before(change.event);
    const BlockId id = change.block();
    const model::Block& block = run.blocks[id];
    uint8_t category = Number(categories.AtBirth(id));
    if (change.freed()) {
      if (categories.Changes(id)) category = Number(categories.At(id, change.event - 1).category);
      builder.Add(change.event, block.size, category, kNowhere);
    } else {
      if (categories.Changes(id)) moves.Add(id, block, categories.Of(id));
      builder.Add(change.event, block.size, kNowhere, category);
    }
  }
  add_before(model::kNever);
  Show({kAllCategories, std::move(builder).Finish()});
}

void MemorySeries::Apply(const Delta& delta, CategoryBytes& bytes) {
  if (delta.from != kNowhere) bytes[delta.from] -= delta.bytes();
  if (delta.to != kNowhere) bytes[delta.to] += delta.bytes();
}

int64_t MemorySeries::Change(const Delta& delta, CategoryMask categories) {
  const CategoryMask to = categories >> delta.to & 1;  // kNowhere is not a bit of the mask
  const CategoryMask from = categories >> delta.from & 1;
  return (static_cast<int64_t>(to) - static_cast<int64_t>(from)) * static_cast<int64_t>(delta.bytes());
}

int64_t MemorySeries::Sum(const CategoryBytes& bytes, CategoryMask categories) {
  uint64_t sum = 0;
  for (CategoryMask rest = categories; rest != 0; rest &= rest - 1)
    sum += bytes[static_cast<size_t>(std::countr_zero(rest))];
  return static_cast<int64_t>(sum);
}

MemorySeries::Choice MemorySeries::Count(CategoryMask categories) const {
  categories &= kAllCategories;
  std::vector<Extremes> leaves(leaf_event_.size());
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    Scan(leaf * kLeaf, std::min((leaf + 1) * kLeaf, deltas_.size()), categories,
         Sum(leaf_bytes_[leaf], categories), leaves[leaf]);
  }
  return {categories, MinMaxTree(std::move(leaves))};
}

int64_t MemorySeries::Scan(size_t first, size_t last, CategoryMask categories, int64_t total,
                           Extremes& extremes) const {
  for (size_t i = first; i < last; ++i) {
    total += Change(deltas_[i], categories);
    if (Whole(i + 1)) extremes.Add(total, static_cast<uint32_t>(i + 1));
  }
  return total;
}

size_t MemorySeries::CountUntil(EventIndex event) const {
  const auto leaf = std::upper_bound(leaf_event_.begin(), leaf_event_.end(), event);
  if (leaf == leaf_event_.begin()) return 0;
  size_t low = static_cast<size_t>(leaf - leaf_event_.begin() - 1) * kLeaf;
  size_t high = std::min(low + kLeaf, deltas_.size());
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (deltas_[middle].event <= event) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

CategoryBytes MemorySeries::BytesAfter(size_t deltas) const {
  if (deltas == 0) return {};
  const size_t leaf = (deltas - 1) / kLeaf;
  CategoryBytes bytes = leaf_bytes_[leaf];
  for (size_t i = leaf * kLeaf; i < deltas; ++i) Apply(deltas_[i], bytes);
  return bytes;
}

MemoryColumn MemorySeries::Over(EventIndex first, EventIndex last) const {
  return Walk(*this).Over(first, last);
}

MemoryColumn MemorySeries::Walk::Over(EventIndex first, EventIndex last) {
  const MemorySeries& s = series_;
  const CategoryMask shown = s.shown();
  const size_t begin = s.CountUntil(first);
  const size_t end = s.CountUntil(last);
  const int64_t entering = begin == deltas_ ? total_ : Sum(s.BytesAfter(begin), shown);
  deltas_ = end;
  Extremes extremes;
  extremes.Add(entering, static_cast<uint32_t>(begin));
  const size_t first_leaf = (begin + kLeaf - 1) / kLeaf;
  const size_t last_leaf = end / kLeaf;
  if (first_leaf >= last_leaf) {
    total_ = s.Scan(begin, end, shown, entering, extremes);
  } else {
    s.Scan(begin, first_leaf * kLeaf, shown, entering, extremes);
    extremes.Merge(s.shown_.leaves.Within(first_leaf, last_leaf));
    // At the end of a full leaf, the next leaf may not exist, so its bytes are not read.
    total_ = end > last_leaf * kLeaf
                 ? s.Scan(last_leaf * kLeaf, end, shown, Sum(s.leaf_bytes_[last_leaf], shown), extremes)
                 : Sum(s.BytesAfter(end), shown);
  }
  const bool entered = extremes.high_at == begin;  // the highest state is the one after event `first`
  return {static_cast<uint64_t>(extremes.low), static_cast<uint64_t>(extremes.high),
          entered ? first : s.deltas_[extremes.high_at - 1].event, s.BytesAfter(extremes.high_at)};
}

CategoryBytes MemorySeries::After(EventIndex event) const { return BytesAfter(CountUntil(event)); }

uint64_t MemorySeries::peak() const {
  const Extremes all = shown_.leaves.Within(0, leaf_event_.size());
  return all.empty() ? 0 : static_cast<uint64_t>(std::max<int64_t>(all.high, 0));
}

const std::array<Category, kCategoryCount>& StackOrder() {
  static constexpr std::array<Category, kCategoryCount> kOrder = {Category::kContext,
                                                                  Category::kParameter,
                                                                  Category::kBuffer,
                                                                  Category::kOptimizerState,
                                                                  Category::kGradient,
                                                                  Category::kActivation,
                                                                  Category::kInput,
                                                                  Category::kWorkspace,
                                                                  Category::kCommunication,
                                                                  Category::kTemporaryForward,
                                                                  Category::kTemporaryBackward,
                                                                  Category::kTemporaryOptimizer,
                                                                  Category::kUnattributed};
  return kOrder;
}

}  // namespace vramscope::classify
