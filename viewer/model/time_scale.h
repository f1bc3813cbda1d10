// SPDX-License-Identifier: Apache-2.0
// The unit of the x axis of views over time: time, events, or training steps.
//
// By time, long waits take much width. By event, every allocation has the same width. By step, every step has
// the same width, also the first one, which compiles.
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
[[nodiscard]] const char* TimeAxisKey(TimeAxis axis);  // "time": for scripts and people
[[nodiscard]] std::optional<TimeAxis> TimeAxisFromKey(std::string_view key);

// Maps nanoseconds to units of the axis and back. Rises strictly, except where the axis cannot tell times
// apart.
class TimeScale {
 public:
  // nullptr if the axis needs none: nanoseconds, or a run that counts events anyway.
  [[nodiscard]] static std::shared_ptr<const TimeScale> For(TimeAxis axis, const model::Run& run,
                                                            std::span<const timeline::Step> steps);
  // Units are events: the time of event n maps to n. `times` must outlive the scale.
  [[nodiscard]] static std::shared_ptr<const TimeScale> OfEvents(const model::TimeIndex& times);
  // Units are steps: step n begins at n. The time before the first and after the last step is one unit each.
  // A gap between steps is a quarter. nullptr without steps.
  [[nodiscard]] static std::shared_ptr<const TimeScale> OfSteps(const model::TimeIndex& times,
                                                                std::span<const timeline::Step> steps);

  [[nodiscard]] TimeAxis axis() const { return times_ != nullptr ? TimeAxis::kEvent : TimeAxis::kStep; }
  [[nodiscard]] double UnitsAt(double time_ns) const;
  [[nodiscard]] double TimeAt(double units) const;
  // The fewest units that a view may show.
  [[nodiscard]] double shortest() const { return times_ != nullptr ? 1 : 1e-4; }
  // Names on the axis: each step's start. Empty for events.
  struct StepPlace {
    uint32_t number = 0;
    double units = 0;
  };
  [[nodiscard]] const std::vector<StepPlace>& steps() const { return steps_; }

 private:
  const model::TimeIndex* times_ = nullptr;
  // Knots of a piecewise linear map, rising.
  std::vector<double> knot_ns_;
  std::vector<double> knot_units_;
  std::vector<StepPlace> steps_;
};

}  // namespace vramscope::viewer
