// SPDX-License-Identifier: Apache-2.0
// The visible part of the run on the time axis. It can be zoomed and panned.
//
// Times are nanoseconds since the start of the trace. As doubles, they are exact for runs of 100 days. A
// place is a position on the screen, which depends on the unit of the axis (time_scale.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "profiler/model/time_index.h"
#include "viewer/model/time_scale.h"

namespace vramscope::viewer {

class TimeView {
 public:
  static constexpr double kShortest = 200;  // ns

  TimeView() = default;
  explicit TimeView(double whole_ns) : whole_(whole_ns < kShortest ? kShortest : whole_ns), end_(whole_) {}
  // For runs whose times are event numbers (model::Run::counts_events).
  [[nodiscard]] static TimeView OfEvents(double events);
  [[nodiscard]] bool counts_events() const { return counts_events_; }

  [[nodiscard]] double begin() const { return begin_; }
  [[nodiscard]] double end() const { return end_; }
  [[nodiscard]] double width() const { return end_ - begin_; }
  [[nodiscard]] double whole() const { return whole_; }
  [[nodiscard]] bool all() const { return begin_ <= 0 && end_ >= whole_; }
  // Returns the place of a time: 0 at the left edge, 1 at the right edge. Times outside the visible part are
  // below 0 or above 1.
  [[nodiscard]] double PlaceOf(double time_ns) const {
    return scale_ == nullptr ? (time_ns - begin_) / width()
                             : (scale_->UnitsAt(time_ns) - first_unit_) / (last_unit_ - first_unit_);
  }
  [[nodiscard]] double TimeAt(double place) const {
    return scale_ == nullptr ? begin_ + place * width()
                             : scale_->TimeAt(first_unit_ + place * (last_unit_ - first_unit_));
  }

  // Returns the view after the run has grown to `whole_ns`. A view of the whole run still shows the whole
  // run, and a view of the end follows the end. The result has no scale.
  [[nodiscard]] TimeView OfLonger(double whole_ns) const;

  // Sets the unit of the axis; nullptr = time. The visible part does not change.
  void SetScale(std::shared_ptr<const TimeScale> scale);
  [[nodiscard]] const std::shared_ptr<const TimeScale>& scale() const { return scale_; }
  // Returns the unit of the axis: that of the scale, or else time. Runs without times use event numbers.
  [[nodiscard]] TimeAxis axis() const {
    if (scale_ != nullptr) return scale_->axis();
    return counts_events_ ? TimeAxis::kEvent : TimeAxis::kTime;
  }

  void Fit() { Show(0, whole_); }
  // Shows the part between two times, which may be in either order. The part is limited to the run and is at
  // least kShortest long.
  void Show(double begin_ns, double end_ns);
  // Zooms in by `factor` (2 shows half as much). `time_ns` keeps its position.
  void Zoom(double factor, double time_ns);
  // The next two functions move the view: by nanoseconds, or by a multiple of the visible width.
  void Pan(double ns) { Show(begin_ + ns, end_ + ns); }
  void PanBy(double widths);
  // Moves the view as little as needed to show `time_ns`, with a small margin.
  void Reveal(double time_ns);

  friend bool operator==(const TimeView&, const TimeView&) = default;

 private:
  [[nodiscard]] double shortest() const { return counts_events_ ? 1 : kShortest; }
  // Like Show, in units of the scale.
  void ShowUnits(double first, double last);
  void FollowScale();

  double whole_ = kShortest;
  double begin_ = 0;
  double end_ = kShortest;
  bool counts_events_ = false;
  std::shared_ptr<const TimeScale> scale_;
  double first_unit_ = 0;  // units at the edges, if there is a scale
  double last_unit_ = 1;
};

// The events of a pixel column: the state at its start is the one after `first`; `last` is the last event in
// the column.
struct EventColumn {
  model::EventIndex first = 0;
  model::EventIndex last = 0;
};
// Divides the view into `columns` columns of equal width. Columns before the first event show the state after
// the first event.
[[nodiscard]] std::vector<EventColumn> ColumnsOf(const model::TimeIndex& times, const TimeView& view,
                                                 size_t columns);

struct TimeTick {
  double time_ns = 0;
  std::string text;  // "12.5 ms", with one unit per axis; or "event 12", "step 3"
};
// Returns ticks at round times, at most `most`.
[[nodiscard]] std::vector<TimeTick> TimeTicks(const TimeView& view, int most);

struct ByteTick {
  uint64_t bytes = 0;
  std::string text;  // "16 GiB"
};
// Returns ticks from `low` to `top`, at round numbers of MiB, GiB, ...; at most `most` + 1.
[[nodiscard]] std::vector<ByteTick> ByteTicks(uint64_t low, uint64_t top, int most);
[[nodiscard]] inline std::vector<ByteTick> ByteTicks(uint64_t top, int most) {
  return ByteTicks(0, top, most);
}

}  // namespace vramscope::viewer
