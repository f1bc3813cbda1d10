// SPDX-License-Identifier: Apache-2.0
// A line of values that each hold until the next: reserved bytes, the driver's used memory. Extremes are
// exact for any pixel column.
#pragma once

#include <optional>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/timeline/min_max_tree.h"

namespace vramscope::timeline {

class StepLine {
 public:
  StepLine() = default;
  // In order of events. At one event, the last value counts.
  explicit StepLine(std::vector<model::Since> values);

  [[nodiscard]] bool empty() const { return values_.empty(); }
  // The extremes of the states after events `first` to `last`, both included. empty() if the line begins
  // later.
  [[nodiscard]] Extremes Over(model::EventIndex first, model::EventIndex last) const;
  [[nodiscard]] std::optional<uint64_t> After(model::EventIndex event) const;
  [[nodiscard]] uint64_t peak() const;

 private:
  // Number of values with event <= `event`.
  [[nodiscard]] size_t CountUntil(model::EventIndex event) const;

  std::vector<model::Since> values_;
  MinMaxTree tree_;
};

// The driver's used memory at every event that changes it: model::DriverDevice::UsedAfter.
[[nodiscard]] StepLine UsedLine(const model::DriverDevice& device);

}  // namespace vramscope::timeline
