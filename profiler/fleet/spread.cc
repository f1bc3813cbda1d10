// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/spread.h"

#include <algorithm>

namespace vramscope::fleet {
namespace {

constexpr double kNormalDeviation = 1.4826;  // standard deviation of a normal distribution / its MAD
constexpr double kDeviations = 6;
constexpr double kLeastShare = 0.02;

template <typename T>
T Middle(std::vector<T>& values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

uint64_t Distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

}  // namespace

double Spread::share() const {
  return median == 0 ? 0 : static_cast<double>(highest - lowest) / static_cast<double>(median);
}

uint64_t Spread::limit() const {
  return static_cast<uint64_t>(std::max(kDeviations * kNormalDeviation * static_cast<double>(mad),
                                        kLeastShare * static_cast<double>(median)));
}

bool Spread::StandsOut(uint64_t value) const { return Distance(value, median) > limit(); }

Spread SpreadOf(std::vector<uint64_t> values) {
  Spread spread;
  if (values.empty()) return spread;
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  spread.lowest = *lowest;
  spread.highest = *highest;
  spread.median = Middle(values);
  for (uint64_t& value : values) value = Distance(value, spread.median);
  spread.mad = Middle(values);
  return spread;
}

int64_t MedianOf(std::vector<int64_t> values) { return values.empty() ? 0 : Middle(values); }

}  // namespace vramscope::fleet
