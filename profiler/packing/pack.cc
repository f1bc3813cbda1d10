// SPDX-License-Identifier: Apache-2.0
#include "profiler/packing/pack.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "profiler/packing/as_they_come.h"
#include "profiler/packing/deadline.h"
#include "profiler/packing/first_fit.h"
#include "profiler/packing/section_search.h"

namespace vramscope::packing {
namespace {

using Clock = Deadline::Clock;

// Largest SectionSearch::WidthOf for a search, which takes 24 bytes per unit of width. A step with 16,000
// blocks has a width of a million. Beyond the limit, no descent would end in time.
constexpr uint64_t kWidestSearch = uint64_t{16} << 20;

class Packer {
 public:
  Packer(std::span<const Item> items, const Limits& limits)
      : items_(items), limits_(limits), begin_(Clock::now()), deadline_(begin_ + limits.budget) {
    answer_.lower_bound = LowerBound(items);
  }

  Answer Run() {
    answer_.packing = AsTheyCome(items_, deadline_);
    const Sections sections = FindSections(items_);
    if (!GoodEnough()) RunFirstFit(sections);
    answer_.first_fit_height = answer_.packing.height;
    if (!GoodEnough()) RunSearch(sections);
    answer_.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    return std::move(answer_);
  }

 private:
  [[nodiscard]] bool GoodEnough() const {
    const auto bound = static_cast<double>(answer_.lower_bound);
    return answer_.optimal() ||
           static_cast<double>(answer_.packing.height) <= bound * (1 + limits_.good_enough);
  }

  void RunFirstFit(const Sections& sections) {
    for (const Order order : {Order::kSize, Order::kArea, Order::kLifetime}) {
      std::optional<Packing> other = FirstFit(items_, sections, order, deadline_);
      if (!other) return;
      answer_.reached = Reached::kFirstFit;
      if (other->height < answer_.packing.height) answer_.packing = std::move(*other);
      if (GoodEnough()) return;
    }
  }

  // Tries the lower bound itself most often: if it can be reached, that is hardly harder than coming close.
  // Heights in between are for instances where it cannot be reached.
  void RunSearch(const Sections& sections) {
    if (deadline_.Passed() || SectionSearch::WidthOf(sections) > kWidestSearch) return;
    answer_.reached = Reached::kSearch;
    constexpr double kShares[] = {0, 0.5, 0, 0.25, 0, 0.75};
    constexpr uint64_t kFirstNodes = 5000;
    constexpr double kGrowth = 1.02;
    SectionSearch search(items_, sections, limits_.seed);
    double nodes = std::max<double>(kFirstNodes, 2.0 * static_cast<double>(items_.size()));
    for (size_t turn = 0; !GoodEnough() && !deadline_.Passed(); ++turn, nodes *= kGrowth) {
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
  Deadline deadline_;
  Answer answer_;
};

}  // namespace

Answer Pack(std::span<const Item> items, const Limits& limits) { return Packer(items, limits).Run(); }

}  // namespace vramscope::packing
