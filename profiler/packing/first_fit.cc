// SPDX-License-Identifier: Apache-2.0
#include "profiler/packing/first_fit.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace vramscope::packing {
namespace {

// Taken offsets, as ascending disjoint intervals that do not touch.
class Taken {
 public:
  void Add(uint64_t begin, uint64_t end) {
    auto first = std::lower_bound(stretches_.begin(), stretches_.end(), begin,
                                  [](const Stretch& s, uint64_t at) { return s.end < at; });
    auto last = first;
    while (last != stretches_.end() && last->begin <= end) {
      begin = std::min(begin, last->begin);
      end = std::max(end, last->end);
      ++last;
    }
    if (first == last) {
      stretches_.insert(first, {begin, end});
    } else {
      *first = {begin, end};
      stretches_.erase(first + 1, last);
    }
  }

  // Returns `from` if [from, from + bytes) is free, otherwise the end of the first interval in the way.
  [[nodiscard]] uint64_t FreeFrom(uint64_t from, uint64_t bytes) const {
    const auto next = std::upper_bound(stretches_.begin(), stretches_.end(), from,
                                       [](uint64_t at, const Stretch& s) { return at < s.end; });
    return next == stretches_.end() || next->begin >= from + bytes ? from : next->end;
  }

  [[nodiscard]] size_t size() const { return stretches_.size(); }

 private:
  struct Stretch {
    uint64_t begin;
    uint64_t end;
  };
  std::vector<Stretch> stretches_;
};

class Tree {
 public:
  Tree(uint32_t sections, Deadline& deadline)
      : deadline_(deadline), leaves_(std::bit_ceil(std::max(sections, 1u))), nodes_(2 * size_t{leaves_}) {}

  // Returns the chosen offset, which is meaningless once the deadline has passed.
  uint64_t Place(Sections::Span span, uint64_t bytes) {
    asked_.clear();
    ForCanonical(span, [this](uint32_t node) {
      asked_.push_back(&nodes_[node].any);
      for (uint32_t above = node / 2; above > 0; above /= 2) asked_.push_back(&nodes_[above].cover);
    });
    std::sort(asked_.begin(), asked_.end());
    asked_.erase(std::unique(asked_.begin(), asked_.end()), asked_.end());
    const uint64_t offset = LowestFree(bytes);
    if (deadline_.Passed()) return 0;
    ForCanonical(span, [&](uint32_t node) {
      Add(nodes_[node].cover, offset, bytes);
      for (uint32_t above = node; above > 0; above /= 2) Add(nodes_[above].any, offset, bytes);
    });
    return offset;
  }

 private:
  struct Node {
    Taken cover;
    Taken any;
  };

  void Add(Taken& taken, uint64_t offset, uint64_t bytes) {
    constexpr size_t kMovedAtOnce = 64;  // intervals moved to make room for one
    (void)deadline_.Passed(1 + taken.size() / kMovedAtOnce);
    taken.Add(offset, offset + bytes);
  }

  [[nodiscard]] uint64_t LowestFree(uint64_t bytes) {
    uint64_t offset = 0;
    size_t agreed = 0;
    for (size_t i = 0; agreed < asked_.size() && !deadline_.Passed(); i = (i + 1) % asked_.size()) {
      const uint64_t free = asked_[i]->FreeFrom(offset, bytes);
      agreed = free == offset ? agreed + 1 : 0;
      // The next interval of the same set may be in the way too, so the set is queried again later.
      offset = free;
    }
    return offset;
  }

  template <typename Visit>
  void ForCanonical(Sections::Span span, const Visit& visit) {
    uint32_t low = leaves_ + span.first;
    uint32_t high = leaves_ + span.last + 1;
    for (; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) visit(low++);
      if (high % 2 == 1) visit(--high);
    }
  }

  Deadline& deadline_;
  uint32_t leaves_;
  std::vector<Node> nodes_;
  std::vector<const Taken*> asked_;
};

}  // namespace

std::optional<Packing> FirstFit(std::span<const Item> items, const Sections& sections, Order order,
                                Deadline& deadline) {
  const auto lifetime = [&](uint32_t i) {
    return uint64_t{sections.spans[i].last} - sections.spans[i].first + 1;
  };
  const auto rank = [&](uint32_t i) {
    const auto size = static_cast<double>(items[i].bytes);
    const auto width = static_cast<double>(lifetime(i));
    return order == Order::kSize ? size : order == Order::kArea ? size * width : width;
  };
  std::vector<uint32_t> turn;
  for (uint32_t i = 0; i < items.size(); ++i) {
    if (sections.spans[i].first <= sections.spans[i].last) turn.push_back(i);
  }
  std::sort(turn.begin(), turn.end(), [&](uint32_t a, uint32_t b) {
    const double rank_a = rank(a);
    const double rank_b = rank(b);
    if (rank_a != rank_b) return rank_a > rank_b;
    if (lifetime(a) != lifetime(b)) return lifetime(a) > lifetime(b);
    return a < b;
  });

  Tree tree(sections.count, deadline);
  Packing packing;
  packing.offsets.resize(items.size());
  for (const uint32_t i : turn) {
    packing.offsets[i] = tree.Place(sections.spans[i], items[i].bytes);
    if (deadline.Passed()) return std::nullopt;
    packing.height = std::max(packing.height, packing.offsets[i] + items[i].bytes);
  }
  return packing;
}

}  // namespace vramscope::packing
