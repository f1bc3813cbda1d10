// SPDX-License-Identifier: Apache-2.0
// A value that holds from one event to the next, as a line: reserved bytes, the driver's used memory. Lowest
// and highest of any pixel column are exact.
#pragma once

#include <optional>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/timeline/min_max_tree.h"

namespace vramscope::timeline {

class StepLine {
 public:
  StepLine() = default;
  // In order of events; of several with one event the last counts.
  explicit StepLine(std::vector<model::Since> values);

  [[nodiscard]] bool empty() const { return values_.empty(); }
  // Over the states after events `first` to `last`, both included; empty() where the line has not begun by
  // `last`.
  [[nodiscard]] Extremes Over(model::EventIndex first, model::EventIndex last) const;
  [[nodiscard]] std::optional<uint64_t> After(model::EventIndex event) const;
  [[nodiscard]] uint64_t peak() const;

 private:
  // Values with event <= `event`.
  [[nodiscard]] size_t CountUntil(model::EventIndex event) const;

  std::vector<model::Since> values_;
  MinMaxTree tree_;
};

// What the driver says is in use on the device, at every event where that changes:
// model::DriverDevice::UsedAfter.
[[nodiscard]] StepLine UsedLine(const model::DriverDevice& device);

}  // namespace vramscope::timeline
