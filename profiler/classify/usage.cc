// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/usage.h"

#include <algorithm>
#include <numeric>

namespace vramscope::classify {
namespace {

using model::BlockId;
using model::EventIndex;

// Moments in ascending order, with a map back to the requested order.
struct SortedMoments {
  std::vector<EventIndex> events;
  std::vector<size_t> asked;

  explicit SortedMoments(std::span<const EventIndex> moments) : asked(moments.size()) {
    std::iota(asked.begin(), asked.end(), size_t{0});
    std::sort(asked.begin(), asked.end(), [&](size_t a, size_t b) { return moments[a] < moments[b]; });
    for (const size_t i : asked) events.push_back(moments[i]);
  }
  // The first moment >= event, as a position in `events`.
  [[nodiscard]] size_t From(EventIndex event, size_t at_least = 0) const {
    const auto first = events.begin() + static_cast<ptrdiff_t>(at_least);
    return static_cast<size_t>(std::lower_bound(first, events.end(), event) - events.begin());
  }
};

// Calls visit(block, first, last) for each block of the device that is alive at the moments [first, last) of
// `moments`; last > first.
template <typename Visit>
void ForEachLive(const model::Run& run, const model::Device& device, const SortedMoments& moments,
                 const Visit& visit) {
  size_t next = 0;  // the first moment at or after the current allocation
  for (const model::Change& change : device.changes) {
    if (change.freed()) continue;
    while (next < moments.events.size() && moments.events[next] < change.event) ++next;
    if (next == moments.events.size()) return;
    const EventIndex free_event = run.blocks[change.block()].free_event;
    if (free_event <= moments.events[next]) continue;
    visit(change.block(), next, moments.From(free_event, next));
  }
}

}  // namespace

std::vector<CategoryBytes> UsageAt(const model::Run& run, const Categories& categories,
                                   const timeline::DeviceCurve& curve, std::span<const EventIndex> moments) {
  const SortedMoments sorted(moments);
  // Holds differences from one moment to the next, so a block that is alive at a thousand moments costs only
  // two additions.
  std::vector<CategoryBytes> usage(moments.size() + 1, CategoryBytes{});
  ForEachLive(run, curve.device(), sorted, [&](BlockId block, size_t first, size_t last) {
    const uint64_t size = run.blocks[block].size;
    const Life life = categories.Of(block);
    for (size_t i = 0; i < life.size(); ++i) {
      const auto category = static_cast<size_t>(life[i].category);
      const size_t from = i == 0 ? first : std::clamp(sorted.From(life[i].begin, first), first, last);
      const size_t to =
          i + 1 == life.size() ? last : std::clamp(sorted.From(life[i + 1].begin, first), first, last);
      usage[from][category] += size;
      usage[to][category] -= size;
    }
  });
  std::vector<CategoryBytes> asked(moments.size());
  CategoryBytes sum = {};
  for (size_t i = 0; i < moments.size(); ++i) {
    for (size_t c = 0; c < kCategoryCount; ++c)
      sum[c] += usage[i][c];  // unsigned differences wrap around, which cancels out in the sum
    CategoryBytes& answer = asked[sorted.asked[i]];
    answer = sum;
    answer[static_cast<size_t>(Category::kUnattributed)] += curve.UnseenAfter(sorted.events[i]);
  }
  return asked;
}

std::vector<std::vector<BlockId>> LiveAt(const model::Run& run, const model::Device& device,
                                         std::span<const EventIndex> moments) {
  const SortedMoments sorted(moments);
  std::vector<std::vector<BlockId>> live(moments.size());
  ForEachLive(run, device, sorted, [&](BlockId block, size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) live[sorted.asked[i]].push_back(block);
  });
  return live;
}

}  // namespace vramscope::classify
