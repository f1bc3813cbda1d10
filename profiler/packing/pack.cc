// SPDX-License-Identifier: Apache-2.0
#include "profiler/packing/pack.h"

#include <algorithm>

#include "profiler/packing/first_fit.h"
#include "profiler/packing/section_search.h"

namespace vramscope::packing {
namespace {

using Clock = SectionSearch::Clock;

class Packer {
 public:
  Packer(std::span<const Item> items, const Limits& limits)
      : items_(items), limits_(limits), begin_(Clock::now()), deadline_(begin_ + limits.budget) {
    answer_.lower_bound = LowerBound(items);
  }

  Answer Run() {
    RunFirstFit();
    if (!GoodEnough()) RunSearch();
    answer_.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    return std::move(answer_);
  }

 private:
  [[nodiscard]] bool GoodEnough() const {
    const auto bound = static_cast<double>(answer_.lower_bound);
    return answer_.optimal() ||
           static_cast<double>(answer_.packing.height) <= bound * (1 + limits_.good_enough);
  }
  [[nodiscard]] bool TimeIsUp() const { return Clock::now() >= deadline_; }

  void RunFirstFit() {
    const Sections sections = FindSections(items_);
    answer_.packing = FirstFit(items_, sections, Order::kSize);
    for (const Order order : {Order::kArea, Order::kLifetime}) {
      if (GoodEnough() || TimeIsUp()) break;
      Packing other = FirstFit(items_, sections, order);
      if (other.height < answer_.packing.height) answer_.packing = std::move(other);
    }
    answer_.first_fit_height = answer_.packing.height;
  }

  // The lower bound itself is tried most often: where it can be reached, reaching it is hardly harder than
  // coming near. Heights in between are for where it cannot.
  void RunSearch() {
    constexpr double kShares[] = {0, 0.5, 0, 0.25, 0, 0.75};
    constexpr uint64_t kFirstNodes = 5000;
    constexpr double kGrowth = 1.02;
    SectionSearch search(items_, limits_.seed);
    double nodes = std::max<double>(kFirstNodes, 2.0 * static_cast<double>(items_.size()));
    for (size_t turn = 0; !GoodEnough() && !TimeIsUp(); ++turn, nodes *= kGrowth) {
      const uint64_t gap = answer_.packing.height - answer_.lower_bound;
      const auto above = static_cast<uint64_t>(kShares[turn % std::size(kShares)] * static_cast<double>(gap));
      const uint64_t target = std::min(answer_.lower_bound + above, answer_.packing.height - 1);
      switch (search.Search(target, static_cast<uint64_t>(nodes), deadline_)) {
        case SectionSearch::Outcome::kFound:
          answer_.packing = search.found();
          break;
        case SectionSearch::Outcome::kImpossible:
          answer_.lower_bound = target + 1;
          break;
        case SectionSearch::Outcome::kGaveUp:
          break;
      }
    }
  }

  std::span<const Item> items_;
  const Limits& limits_;
  Clock::time_point begin_;
  Clock::time_point deadline_;
  Answer answer_;
};

}  // namespace

Answer Pack(std::span<const Item> items, const Limits& limits) { return Packer(items, limits).Run(); }

}  // namespace vramscope::packing
