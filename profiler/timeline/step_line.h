// SPDX-License-Identifier: Apache-2.0
// A line of values, each of which holds until the next one: reserved bytes, the driver's used memory. The
// lowest and highest value of any pixel column are exact.
#pragma once

#include <optional>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/timeline/min_max_tree.h"

namespace vramscope::timeline {

class StepLine {
 public:
  StepLine() = default;
  // In order of events; of several values at one event, the last one counts.
  explicit StepLine(std::vector<model::Since> values);

  [[nodiscard]] bool empty() const { return values_.empty(); }
  // The extremes of the states after events `first` to `last`, both included; empty() is true if the line has
  // not begun by `last`.
  [[nodiscard]] Extremes Over(model::EventIndex first, model::EventIndex last) const;
  [[nodiscard]] std::optional<uint64_t> After(model::EventIndex event) const;
  [[nodiscard]] uint64_t peak() const;

 private:
  // Number of values with event <= `event`.
  [[nodiscard]] size_t CountUntil(model::EventIndex event) const;

  std::vector<model::Since> values_;
  MinMaxTree tree_;
};

// The used memory that the driver reports for the device, at every event that changes it:
// model::DriverDevice::UsedAfter.
[[nodiscard]] StepLine UsedLine(const model::DriverDevice& device);

}  // namespace vramscope::timeline
