// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/module_covers.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace vramscope::plan {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

std::vector<size_t> ByPrice(const Cut& cut, const std::vector<double>& ns) {
  std::vector<size_t> order(ns.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t i) { return cut.freed[i] == 0; });
  const auto price = [&](size_t i) { return ns[i] / static_cast<double>(cut.freed[i]); };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return price(a) < price(b); });
  return order;
}

}  // namespace

uint64_t Cut::Left(const std::vector<bool>& chosen) const {
  uint64_t sum = 0;
  for (size_t i = 0; i < freed.size(); ++i) sum += chosen[i] ? freed[i] : 0;
  return live - std::min(live, sum);
}

Covers::Covers(const std::vector<double>& ns, const std::vector<Cut>& cuts, uint64_t wanted)
    : ns_(ns), cuts_(cuts), wanted_(wanted), order_(ns.size()), place_(ns.size()) {
  std::iota(order_.begin(), order_.end(), size_t{0});
  std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) { return ns[a] > ns[b]; });
  for (size_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
  Decisions nothing{0, 0, std::vector<bool>(ns.size(), false)};
  nothing.at_least_ns = Bound(nothing);
  open_.push(std::move(nothing));
}

double Covers::Bound(const Decisions& decisions) const {
  double ns = 0;
  for (size_t k = 0; k < decisions.decided; ++k) ns += decisions.chosen[order_[k]] ? ns_[order_[k]] : 0;
  while (by_price_.size() < cuts_.size()) by_price_.push_back(ByPrice(cuts_[by_price_.size()], ns_));
  double most = 0;
  for (size_t c = 0; c < cuts_.size(); ++c) {
    const uint64_t left = cuts_[c].Left(decisions.chosen);
    if (left <= wanted_) continue;
    auto missing = static_cast<double>(left - wanted_);
    double more = 0;
    for (const size_t i : by_price_[c]) {
      if (place_[i] < decisions.decided) continue;
      const double part = std::min(1.0, missing / static_cast<double>(cuts_[c].freed[i]));
      more += part * ns_[i];
      missing -= part * static_cast<double>(cuts_[c].freed[i]);
      if (missing <= 0) break;
    }
    most = std::max(most, missing > 0 ? kNever : more);
  }
  return ns + most;
}

std::optional<std::vector<bool>> Covers::Next(double below_ns, uint64_t& work) {
  while (!open_.empty() && open_.top().at_least_ns < below_ns && work > 0) {
    --work;
    Decisions decisions = open_.top();
    open_.pop();
    const double bound = Bound(decisions);  // there may be new cuts
    if (bound > decisions.at_least_ns) {
      decisions.at_least_ns = bound;
      if (bound < kNever) open_.push(std::move(decisions));
      continue;
    }
    if (decisions.decided == order_.size()) return decisions.chosen;
    for (const bool take : {true, false}) {
      Decisions next = decisions;
      next.chosen[order_[decisions.decided]] = take;
      ++next.decided;
      next.at_least_ns = Bound(next);
      if (next.at_least_ns < kNever) open_.push(std::move(next));
    }
  }
  return std::nullopt;
}

double Covers::AtLeastNs() const { return open_.empty() ? kNever : open_.top().at_least_ns; }

}  // namespace vramscope::plan
