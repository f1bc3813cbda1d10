// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/order.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace vramscope::whatif {
namespace {

constexpr size_t kFew = 64;   // fewer moments are sorted by comparison
constexpr size_t kTiny = 16;  // parts up to this size use insertion sort

bool ComesFirst(const Moment& a, const Moment& b) { return a.at != b.at ? a.at < b.at : a.kind < b.kind; }

// Stable. `moments` is a part whose neighboring parts are in order already.
void Compare(std::vector<Moment>::iterator begin, std::vector<Moment>::iterator end) {
  if (end - begin > static_cast<std::ptrdiff_t>(kTiny)) {
    std::stable_sort(begin, end, ComesFirst);
    return;
  }
  for (auto next = begin; next < end; ++next) {
    const Moment moment = *next;
    auto place = next;
    for (; place > begin && ComesFirst(moment, *(place - 1)); --place) *place = *(place - 1);
    *place = moment;
  }
}

}  // namespace

void PutInOrder(std::vector<Moment>& moments) {
  const size_t count = moments.size();
  const auto [first, last] = std::minmax_element(
      moments.begin(), moments.end(), [](const Moment& a, const Moment& b) { return a.at < b.at; });
  const double scale =
      count < kFew ? 0
                   : static_cast<double>(count - 1) / static_cast<double>(last->at.event - first->at.event);
  if (!std::isfinite(scale) || scale <= 0) {  // few moments, one position, or a range without an end
    std::stable_sort(moments.begin(), moments.end(), ComesFirst);
    return;
  }
  // Rounding keeps the order: a later position never falls into an earlier part.
  const auto part_of = [low = first->at.event, scale](const Moment& moment) {
    return static_cast<size_t>(static_cast<double>(moment.at.event - low) * scale);
  };
  std::vector<uint32_t> ends(count + 1);
  for (const Moment& moment : moments) ++ends[part_of(moment)];
  uint32_t before = 0;
  for (uint32_t& end : ends) before += std::exchange(end, before);
  std::vector<Moment> ordered(count);
  for (const Moment& moment : moments) ordered[ends[part_of(moment)]++] = moment;
  auto begin = ordered.begin();
  for (size_t part = 0; part < count; ++part) {
    const auto end = ordered.begin() + ends[part];
    if (end - begin > 1) Compare(begin, end);
    begin = end;
  }
  // The moments that rounding moved after the last part.
  Compare(begin, ordered.end());
  moments.swap(ordered);
}

}  // namespace vramscope::whatif
