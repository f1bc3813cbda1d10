// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/time_scale.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace vramscope::viewer {
namespace {

constexpr std::array<const char*, 3> kAxisKeys = {"time", "event", "step"};
constexpr double kGapUnits = 0.25;  // units between two steps that do not follow directly

// The value at `x` of the line through the knots; straight on beyond their ends.
double Along(const std::vector<double>& xs, const std::vector<double>& ys, double x) {
  auto next = std::upper_bound(xs.begin(), xs.end(), x) - xs.begin();
  next = std::clamp<ptrdiff_t>(next, 1, static_cast<ptrdiff_t>(xs.size()) - 1);
  const auto i = static_cast<size_t>(next);
  return ys[i - 1] + (x - xs[i - 1]) * (ys[i] - ys[i - 1]) / (xs[i] - xs[i - 1]);
}

}  // namespace

const char* TimeAxisKey(TimeAxis axis) { return kAxisKeys[static_cast<size_t>(axis)]; }

std::optional<TimeAxis> TimeAxisFromKey(std::string_view key) {
  for (size_t i = 0; i < kAxisKeys.size(); ++i) {
    if (key == kAxisKeys[i]) return static_cast<TimeAxis>(i);
  }
  return std::nullopt;
}

std::shared_ptr<const TimeScale> TimeScale::For(TimeAxis axis, const model::Run& run,
                                                std::span<const timeline::Step> steps) {
  if (axis == TimeAxis::kStep) return OfSteps(run.times, steps);
  return axis == TimeAxis::kTime || run.counts_events() ? nullptr : OfEvents(run.times);
}

std::shared_ptr<const TimeScale> TimeScale::OfEvents(const model::TimeIndex& times) {
  auto scale = std::make_shared<TimeScale>();
  scale->times_ = &times;
  return scale;
}

std::shared_ptr<const TimeScale> TimeScale::OfSteps(const model::TimeIndex& times,
                                                    std::span<const timeline::Step> steps) {
  if (steps.empty()) return nullptr;
  auto scale = std::make_shared<TimeScale>();
  const auto add = [&](double ns, double units) {
    // Knots at one time would be a jump.
    if (!scale->knot_ns_.empty() && (ns <= scale->knot_ns_.back() || units <= scale->knot_units_.back()))
      return;
    scale->knot_ns_.push_back(ns);
    scale->knot_units_.push_back(units);
  };
  const double first = static_cast<double>(times.TimeOf(steps.front().begin));
  if (first > 0) add(0, steps.front().number - 1.0);
  for (size_t i = 0; i < steps.size(); ++i) {
    const double begin = static_cast<double>(times.TimeOf(steps[i].begin));
    const double end = static_cast<double>(times.TimeOf(steps[i].end));
    const bool follows =
        i + 1 == steps.size() || times.TimeOf(steps[i + 1].begin) <= times.TimeOf(steps[i].end);
    scale->steps_.push_back({steps[i].number, static_cast<double>(steps[i].number)});
    add(begin, steps[i].number);
    add(end, steps[i].number + (follows ? 1 : 1 - kGapUnits));
  }
  const auto last = static_cast<double>(times.last_ns());
  if (last > scale->knot_ns_.back()) add(last, scale->knot_units_.back() + 1);
  return scale->knot_ns_.size() < 2 ? nullptr : scale;
}

double TimeScale::UnitsAt(double time_ns) const {
  if (times_ == nullptr) return Along(knot_ns_, knot_units_, time_ns);
  if (time_ns <= 0 || times_->size() == 0) return 0;
  const model::EventIndex last = times_->LastEventAt(static_cast<uint64_t>(time_ns));
  if (last == model::kNever) return 0;
  if (last + 1 >= times_->size()) return static_cast<double>(last);
  const auto from = static_cast<double>(times_->TimeOf(last));
  const auto to = static_cast<double>(times_->TimeOf(last + 1));
  return static_cast<double>(last) + std::clamp((time_ns - from) / (to - from), 0.0, 1.0);
}

double TimeScale::TimeAt(double units) const {
  if (times_ == nullptr) return Along(knot_units_, knot_ns_, units);
  if (units <= 0 || times_->size() == 0) return 0;
  const auto most = static_cast<double>(times_->size() - 1);
  if (units >= most) return static_cast<double>(times_->last_ns());
  const double whole = std::floor(units);
  const auto event = static_cast<model::EventIndex>(whole);
  const auto from = static_cast<double>(times_->TimeOf(event));
  const auto to = static_cast<double>(times_->TimeOf(event + 1));
  return from + (units - whole) * (to - from);
}

}  // namespace vramscope::viewer
