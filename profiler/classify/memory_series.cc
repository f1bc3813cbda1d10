// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/memory_series.h"

#include <algorithm>
#include <bit>

namespace vramscope::classify {
namespace {

using model::EventIndex;
using timeline::Extremes;
using timeline::MinMaxTree;

// A block changes its category while it lives.
struct Move {
  EventIndex event = 0;
  uint64_t bytes = 0;
  uint8_t from = 0;
  uint8_t to = 0;
};

uint8_t CategoryIndex(const Stretch& stretch) { return static_cast<uint8_t>(stretch.category); }

void FindMoves(const model::Block& block, const Life& life, std::vector<Move>& moves) {
  for (size_t i = 1; i < life.size() && life[i].begin < block.free_event; ++i) {
    const uint8_t from = CategoryIndex(life[i - 1]);
    const uint8_t to = CategoryIndex(life[i]);
    if (from != to) moves.push_back({life[i].begin, block.size, from, to});
  }
}

}  // namespace

MemorySeries::MemorySeries(const model::Run& run, const Categories& categories,
                           model::DeviceIndex device_index) {
  const model::Device& device = run.devices[device_index];
  std::vector<Move> moves;
  for (const model::Change& change : device.changes) {
    if (!change.freed()) FindMoves(run.blocks[change.block()], categories.Of(change.block()), moves);
  }
  std::stable_sort(moves.begin(), moves.end(),
                   [](const Move& a, const Move& b) { return a.event < b.event; });

  constexpr auto kUnattributed = static_cast<uint8_t>(Category::kUnattributed);
  auto move = moves.begin();
  auto unseen = device.unseen.begin();
  int64_t unseen_bytes = 0;
  const auto add_unseen = [&] {
    const int64_t change = unseen->value - unseen_bytes;
    unseen_bytes = unseen->value;
    const auto bytes = static_cast<uint64_t>(change < 0 ? -change : change);
    Add(unseen->event, bytes, change < 0 ? kUnattributed : kNowhere, change < 0 ? kNowhere : kUnattributed);
    ++unseen;
  };
  const auto add_before = [&](EventIndex event) {
    while (true) {
      const EventIndex move_event = move == moves.end() ? model::kNever : move->event;
      const EventIndex unseen_event = unseen == device.unseen.end() ? model::kNever : unseen->event;
      if (std::min(move_event, unseen_event) >= event) return;
      if (unseen_event < move_event) {
        add_unseen();
      } else {
        Add(move->event, move->bytes, move->from, move->to);
        ++move;
      }
    }
  };
  for (const model::Change& change : device.changes) {
    add_before(change.event);
    const model::Block& block = run.blocks[change.block()];
    const Life life = categories.Of(change.block());
    if (change.freed()) {
      Add(change.event, block.size, CategoryIndex(life.At(change.event - 1)), kNowhere);
    } else {
      Add(change.event, block.size, kNowhere, CategoryIndex(life.At(change.event)));
    }
  }
  add_before(model::kNever);
  Show(kAllCategories);
}

void MemorySeries::Add(EventIndex event, uint64_t bytes, uint8_t from, uint8_t to) {
  if (bytes == 0) return;
  if (deltas_.size() % kLeaf == 0) {
    leaf_event_.push_back(event);
    if (leaf_bytes_.empty()) {
      leaf_bytes_.push_back(CategoryBytes{});
    } else {
      CategoryBytes before = leaf_bytes_.back();
      for (size_t i = deltas_.size() - kLeaf; i < deltas_.size(); ++i) Apply(deltas_[i], before);
      leaf_bytes_.push_back(before);
    }
  }
  deltas_.push_back({event, static_cast<uint32_t>(bytes), static_cast<uint16_t>(bytes >> 32), from, to});
}

void MemorySeries::Apply(const Delta& delta, CategoryBytes& bytes) {
  if (delta.from != kNowhere) bytes[delta.from] -= delta.bytes();
  if (delta.to != kNowhere) bytes[delta.to] += delta.bytes();
}

int64_t MemorySeries::Change(const Delta& delta) const {
  const CategoryMask to = shown_ >> delta.to & 1;  // kNowhere is no bit of the mask
  const CategoryMask from = shown_ >> delta.from & 1;
  return (static_cast<int64_t>(to) - static_cast<int64_t>(from)) * static_cast<int64_t>(delta.bytes());
}

int64_t MemorySeries::Shown(const CategoryBytes& bytes) const {
  uint64_t sum = 0;
  for (CategoryMask rest = shown_; rest != 0; rest &= rest - 1)
    sum += bytes[static_cast<size_t>(std::countr_zero(rest))];
  return static_cast<int64_t>(sum);
}

void MemorySeries::Show(CategoryMask categories) {
  shown_ = categories & kAllCategories;
  std::vector<Extremes> leaves(leaf_event_.size());
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    Scan(leaf * kLeaf, std::min((leaf + 1) * kLeaf, deltas_.size()), Shown(leaf_bytes_[leaf]), leaves[leaf]);
  }
  tree_ = MinMaxTree(std::move(leaves));
}

int64_t MemorySeries::Scan(size_t first, size_t last, int64_t total, Extremes& extremes) const {
  for (size_t i = first; i < last; ++i) {
    total += Change(deltas_[i]);
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
  const size_t begin = s.CountUntil(first);
  const size_t end = s.CountUntil(last);
  const int64_t entering = begin == deltas_ ? total_ : s.Shown(s.BytesAfter(begin));
  deltas_ = end;
  Extremes extremes;
  extremes.Add(entering, static_cast<uint32_t>(begin));
  const size_t first_leaf = (begin + kLeaf - 1) / kLeaf;
  const size_t last_leaf = end / kLeaf;
  if (first_leaf >= last_leaf) {
    total_ = s.Scan(begin, end, entering, extremes);
  } else {
    s.Scan(begin, first_leaf * kLeaf, entering, extremes);
    extremes.Merge(s.tree_.Within(first_leaf, last_leaf));
    // Behind the last leaf begins none where the series ends with it.
    total_ = end > last_leaf * kLeaf
                 ? s.Scan(last_leaf * kLeaf, end, s.Shown(s.leaf_bytes_[last_leaf]), extremes)
                 : s.Shown(s.BytesAfter(end));
  }
  const bool entered =
      extremes.high_at == begin;  // the state was there before: it began no later than `first`
  return {static_cast<uint64_t>(extremes.low), static_cast<uint64_t>(extremes.high),
          entered ? first : s.deltas_[extremes.high_at - 1].event, s.BytesAfter(extremes.high_at)};
}

CategoryBytes MemorySeries::After(EventIndex event) const { return BytesAfter(CountUntil(event)); }

uint64_t MemorySeries::peak() const {
  const Extremes all = tree_.Within(0, leaf_event_.size());
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
