// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/time_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace vramscope::viewer {

using model::EventIndex;

TimeView TimeView::OfEvents(double events) {
  TimeView view;
  view.counts_events_ = true;
  view.whole_ = view.end_ = std::max(events, view.shortest());
  return view;
}

TimeView TimeView::OfLonger(double whole_ns) const {
  TimeView view(whole_ns);
  if (all()) return view;
  const bool at_end = end_ >= whole_ && whole_ < whole_ns;
  const double by = at_end ? whole_ns - whole_ : 0;
  view.Show(begin_ + by, end_ + by);
  return view;
}

void TimeView::Show(double begin_ns, double end_ns) {
  if (begin_ns > end_ns) std::swap(begin_ns, end_ns);
  const double width = std::clamp(end_ns - begin_ns, shortest(), whole_);
  const double middle = (begin_ns + end_ns) / 2;
  begin_ = std::clamp(middle - width / 2, 0.0, whole_ - width);
  // A request for the end of the run gets it exactly; sums miss it by less than a nanosecond.
  end_ = begin_ + width > whole_ - 0.5 ? whole_ : begin_ + width;
  FollowScale();
}

void TimeView::SetScale(std::shared_ptr<const TimeScale> scale) {
  scale_ = std::move(scale);
  FollowScale();
}

void TimeView::FollowScale() {
  if (scale_ == nullptr) return;
  first_unit_ = scale_->UnitsAt(begin_);
  last_unit_ = std::max(scale_->UnitsAt(end_), first_unit_ + scale_->shortest());
}

void TimeView::ShowUnits(double first, double last) {
  const double begin = scale_->UnitsAt(0);
  const double end = scale_->UnitsAt(whole_);
  const double width =
      std::clamp(last - first, scale_->shortest(), std::max(end - begin, scale_->shortest()));
  first_unit_ = std::clamp(first, begin, std::max(end - width, begin));
  last_unit_ = first_unit_ + width;
  begin_ = std::clamp(scale_->TimeAt(first_unit_), 0.0, whole_);
  end_ = last_unit_ >= end ? whole_ : std::clamp(scale_->TimeAt(last_unit_), begin_, whole_);
}

void TimeView::PanBy(double widths) {
  if (scale_ == nullptr) return Pan(widths * width());
  const double by = widths * (last_unit_ - first_unit_);
  ShowUnits(first_unit_ + by, last_unit_ + by);
}

void TimeView::Zoom(double factor, double time_ns) {
  if (scale_ != nullptr) {
    const double units = (last_unit_ - first_unit_) / factor;
    const double first = scale_->UnitsAt(time_ns) - PlaceOf(time_ns) * units;
    return ShowUnits(first, first + units);
  }
  const double width = std::clamp(this->width() / factor, shortest(), whole_);
  const double begin = time_ns - PlaceOf(time_ns) * width;
  Show(begin, begin + width);
}

void TimeView::Reveal(double time_ns) {
  if (scale_ != nullptr) {
    const double place = PlaceOf(time_ns);
    if (place < 0.05 && begin_ > 0) PanBy(place - 0.05);
    if (place > 0.95 && end_ < whole_) PanBy(place - 0.95);
    return;
  }
  const double room = width() * 0.05;
  if (time_ns < begin_ + room && begin_ > 0) Pan(time_ns - room - begin_);
  if (time_ns > end_ - room && end_ < whole_) Pan(time_ns + room - end_);
}

std::vector<EventColumn> ColumnsOf(const model::TimeIndex& times, const TimeView& view, size_t columns) {
  std::vector<EventColumn> result(columns);
  if (times.size() == 0) return result;
  const auto state_at = [&](double time_ns) -> EventIndex {
    const EventIndex event = times.LastEventAt(time_ns <= 0 ? 0 : static_cast<uint64_t>(time_ns));
    return event == model::kNever ? 0 : std::min(event, times.size() - 1);
  };
  EventIndex first = state_at(view.begin());
  for (size_t i = 0; i < columns; ++i) {
    const double end = view.TimeAt(static_cast<double>(i + 1) / static_cast<double>(columns));
    // A column ends before its end: the event exactly there belongs to the next one.
    const bool is_last = i + 1 == columns;
    const EventIndex last = std::max(first, state_at(is_last ? view.end() : std::ceil(end) - 1));
    result[i] = {first, last};
    // The state at the start of the next column: this one's last, unless the next event is exactly there.
    const bool changes_there = last + 1 < times.size() && static_cast<double>(times.TimeOf(last + 1)) <= end;
    first = changes_there ? last + 1 : last;
  }
  return result;
}

namespace {

// 1, 2 or 5 times a power of ten, at least that.
double RoundDistance(double at_least) {
  for (double power = 1;; power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor * power >= at_least) return factor * power;
    }
  }
}

// Ticks of an axis that counts events or steps.
std::vector<TimeTick> ScaleTicks(const TimeView& view, int most) {
  const TimeScale& scale = *view.scale();
  const double first = scale.UnitsAt(view.begin());
  const double last = scale.UnitsAt(view.end());
  const double distance = RoundDistance(std::max((last - first) / std::max(most, 1), 1.0));
  std::vector<TimeTick> ticks;
  if (scale.axis() == TimeAxis::kEvent) {
    for (double event = std::ceil(first / distance) * distance; event <= last; event += distance)
      ticks.push_back({scale.TimeAt(event), fmt::format("event {:.0f}", event)});
    return ticks;
  }
  for (const TimeScale::StepPlace& step : scale.steps()) {
    const bool round = step.number % static_cast<uint64_t>(distance) == 0;
    if (round && step.units >= first && step.units <= last)
      ticks.push_back({scale.TimeAt(step.units), fmt::format("step {}", step.number)});
  }
  return ticks;
}

}  // namespace

std::vector<TimeTick> TimeTicks(const TimeView& view, int most) {
  if (view.scale() != nullptr) return ScaleTicks(view, most);
  struct Unit {
    const char* name;
    double ns;
  };
  static constexpr std::array<Unit, 5> kUnits = {
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}}};
  const double at_least = std::max(view.width() / std::max(most, 1), view.counts_events() ? 1.0 : 0.0);
  const double distance = RoundDistance(at_least);
  const Unit* unit = &kUnits[0];
  for (const Unit& candidate : kUnits) {
    const bool minutes = candidate.ns > 1e9;  // only whole minutes: 16.67 min is hard to read
    if (view.end() >= candidate.ns * (minutes ? 10 : 1) && (!minutes || distance >= candidate.ns))
      unit = &candidate;
  }
  const double step = distance / unit->ns;
  const int digits = step >= 1 ? 0 : static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
  std::vector<TimeTick> ticks;
  for (double time = std::ceil(view.begin() / distance) * distance; time <= view.end(); time += distance) {
    ticks.push_back({time, view.counts_events()
                               ? fmt::format("event {:.0f}", time)
                               : fmt::format("{:.{}f} {}", time / unit->ns, digits, unit->name)});
  }
  return ticks;
}

std::vector<ByteTick> ByteTicks(uint64_t low, uint64_t top, int most) {
  uint64_t distance = 1;
  // Powers of two: 0.5 GiB and 256 MiB are familiar values.
  while ((top - low) / distance > static_cast<uint64_t>(std::max(most, 1)) && distance < uint64_t{1} << 62)
    distance *= 2;
  static constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::vector<ByteTick> ticks;
  size_t unit = 0;
  // 128 MiB and 896 MiB are easier to read than 0.125 GiB and 0.875 GiB.
  while (unit + 1 < kUnits.size() && top >> (10 * (unit + 1)) != 0 && distance * 4 >> (10 * (unit + 1)) != 0)
    ++unit;
  for (uint64_t bytes = (low + distance - 1) / distance * distance; bytes <= top; bytes += distance) {
    const double value = static_cast<double>(bytes) / static_cast<double>(uint64_t{1} << (10 * unit));
    ticks.push_back({bytes, bytes == 0 ? "0" : fmt::format("{:.10g} {}", value, kUnits[unit])});
    if (bytes > top - std::min(distance, top)) break;
  }
  return ticks;
}

}  // namespace vramscope::viewer
