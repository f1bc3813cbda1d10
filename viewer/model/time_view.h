// SPDX-License-Identifier: Apache-2.0
// The visible stretch of the run, and how it moves: zoom at a point, pan, fit.
//
// Times are nanoseconds since the trace's start, as doubles: exact to a nanosecond for runs of 100 days.
#pragma once

#include <string>
#include <vector>

#include "profiler/model/time_index.h"

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
  // 0 at the left edge, 1 at the right one; also defined outside.
  [[nodiscard]] double PlaceOf(double time_ns) const { return (time_ns - begin_) / width(); }
  [[nodiscard]] double TimeAt(double place) const { return begin_ + place * width(); }

  void Fit() { Show(0, whole_); }
  // Stays within the run and at least kShortest wide; the ends may come in either order.
  void Show(double begin_ns, double end_ns);
  // Keeps `time_ns` at its position; factor 2 shows half as much.
  void Zoom(double factor, double time_ns);
  void Pan(double ns) { Show(begin_ + ns, end_ + ns); }
  // Pans as little as needed to make it visible with a little margin.
  void Reveal(double time_ns);

  friend bool operator==(const TimeView&, const TimeView&) = default;

 private:
  [[nodiscard]] double shortest() const { return counts_events_ ? 1 : kShortest; }

  double whole_ = kShortest;
  double begin_ = 0;
  double end_ = kShortest;
  bool counts_events_ = false;
};

// The events whose states a pixel column stands for: the state at its begin, and all within it.
struct EventColumn {
  model::EventIndex first = 0;
  model::EventIndex last = 0;
};
// Returns `columns` columns of equal width from begin to end. Times before the first event count as the state
// after it.
[[nodiscard]] std::vector<EventColumn> ColumnsOf(const model::TimeIndex& times, const TimeView& view,
                                                 size_t columns);

struct TimeTick {
  double time_ns = 0;
  std::string text;  // "12.5 ms", with one unit per axis; or "event 12"
};
// At most `most` ticks, at round times.
[[nodiscard]] std::vector<TimeTick> TimeTicks(const TimeView& view, int most);

struct ByteTick {
  uint64_t bytes = 0;
  std::string text;  // "16 GiB"
};
// From 0 to `top`, at round numbers of MiB, GiB, ...; at most `most` ticks plus 0.
[[nodiscard]] std::vector<ByteTick> ByteTicks(uint64_t top, int most);

}  // namespace vramscope::viewer
