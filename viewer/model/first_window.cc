// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/first_window.h"

#include <algorithm>
#include <vector>

namespace vramscope::viewer {
namespace {

constexpr double kMargin = 0.03;

struct Stretch {
  double begin = 0;
  double end = 0;
  [[nodiscard]] double width() const { return end - begin; }
};

// The time from the first to the last step. A first step that is longer than all others together (it
// compiles, or loads libraries) is cut to twice the median, and so is a last one that never ended (the
// program died in it).
Stretch StepsOf(const std::vector<timeline::Step>& steps, const model::TimeIndex& times, double last_change) {
  const auto begin_of = [&](const timeline::Step& step) {
    return static_cast<double>(times.TimeOf(step.begin));
  };
  const auto end_of = [&](const timeline::Step& step) {
    const auto end = static_cast<double>(times.TimeOf(step.end));
    return step.complete ? end : std::clamp(last_change, begin_of(step), end);
  };
  Stretch all = {begin_of(steps.front()), end_of(steps.back())};
  if (steps.size() < 3) return all;
  std::vector<double> lengths;
  lengths.reserve(steps.size());
  for (const timeline::Step& step : steps) lengths.push_back(end_of(step) - begin_of(step));
  const double first = lengths.front();
  const double last = lengths.back();
  std::nth_element(lengths.begin(), lengths.begin() + static_cast<ptrdiff_t>(lengths.size() / 2),
                   lengths.end());
  const double twice = 2 * lengths[lengths.size() / 2];
  if (first > all.width() / 2) all.begin = std::max(all.begin, begin_of(steps[1]) - twice);
  if (!steps.back().complete && last > all.width() / 2)
    all.end = std::min(all.end, begin_of(steps.back()) + twice);
  return all;
}

}  // namespace

std::pair<double, double> FirstWindow(const Document& document, const DeviceView& device) {
  const model::TimeIndex& times = document.run->times;
  const auto& changes = document.run->devices[device.index].changes;
  const Stretch busy = {static_cast<double>(times.TimeOf(changes[0].event)),
                        static_cast<double>(times.TimeOf(changes.back().event))};
  const auto& steps = document.training(device).steps();
  const auto whole = static_cast<double>(times.last_ns());
  const auto& metadata = document.run->source->metadata();
  const auto begin = metadata.find(model::kBeginKey);
  // A recording from the middle of a run has no slow start, and its first events belong to an earlier step.
  const bool in_the_middle = begin != metadata.end() && begin->second == model::kInTheMiddle;
  const bool no_steps = steps.empty() || in_the_middle;
  if (no_steps && busy.width() >= whole * 0.8) return {0, whole};
  Stretch shown = no_steps ? busy : StepsOf(steps, times, busy.end);
  const auto peak = static_cast<double>(times.TimeOf(device.curve.peak().event));
  const Stretch with_peak = {std::min(shown.begin, peak), std::max(shown.end, peak)};
  if (with_peak.width() <= 2 * shown.width()) shown = with_peak;
  const double margin = shown.width() * kMargin;
  return {shown.begin - margin, shown.end + margin};
}

}  // namespace vramscope::viewer
