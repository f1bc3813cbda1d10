// SPDX-License-Identifier: Apache-2.0
// The unit of the x axis of all views over time: nanoseconds, events, or training steps.
//
// On an axis of nanoseconds, long waits take much of the width. On an axis of events, every event has the
// same width. On an axis of steps, every step has the same width, also a first step that compiles for a long
// time.
//
//   time    ├─ step 1 ───────────────────────┤ 2 ┤ 3 ┤
//   step    ├─ step 1 ───┤─ 2 ────────┤─ 3 ──────────┤
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/timeline/training.h"

namespace vramscope::viewer {

enum class TimeAxis : uint8_t { kTime, kEvent, kStep };
[[nodiscard]] const char* TimeAxisKey(TimeAxis axis);  // name for scripts and users: "time"
[[nodiscard]] std::optional<TimeAxis> TimeAxisFromKey(std::string_view key);

// Converts nanoseconds to units of the axis and back. A later time has a greater unit, except if the axis
// cannot represent the difference of the two times.
class TimeScale {
 public:
  // Returns the scale of an axis. Returns nullptr if no conversion is needed: the axis is nanoseconds, or the
  // times of the run are event numbers.
  [[nodiscard]] static std::shared_ptr<const TimeScale> For(TimeAxis axis, const model::Run& run,
                                                            std::span<const timeline::Step> steps);
  // The unit is one event: the time of event n is converted to n. `times` must outlive the scale.
  [[nodiscard]] static std::shared_ptr<const TimeScale> OfEvents(const model::TimeIndex& times);
  // The unit is one step: the begin of step n is converted to n. The time before the first step and the time
  // after the last step are one unit each. A gap between two steps is a quarter of a unit. Returns nullptr if
  // there are no steps.
  [[nodiscard]] static std::shared_ptr<const TimeScale> OfSteps(const model::TimeIndex& times,
                                                                std::span<const timeline::Step> steps);

  [[nodiscard]] TimeAxis axis() const { return times_ != nullptr ? TimeAxis::kEvent : TimeAxis::kStep; }
  [[nodiscard]] double UnitsAt(double time_ns) const;
  [[nodiscard]] double TimeAt(double units) const;
  // The smallest number of units that a view may show.
  [[nodiscard]] double shortest() const { return times_ != nullptr ? 1 : 1e-4; }
  // The labels of the axis: the begin of each step. Empty for an axis of events.
  struct StepPlace {
    uint32_t number = 0;
    double units = 0;
  };
  [[nodiscard]] const std::vector<StepPlace>& steps() const { return steps_; }

 private:
  const model::TimeIndex* times_ = nullptr;
  // The points of a piecewise linear function from nanoseconds to units, in ascending order.
  std::vector<double> knot_ns_;
  std::vector<double> knot_units_;
  std::vector<StepPlace> steps_;
};

}  // namespace vramscope::viewer
