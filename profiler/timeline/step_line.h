// SPDX-License-Identifier: Apache-2.0
// A value over time that changes in steps, such as reserved bytes or the driver's used memory. Finds the
// exact minimum and maximum of any range of events, which the viewer draws in one pixel column.
#pragma once

#include <optional>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/timeline/min_max_tree.h"

namespace vramscope::timeline {

class StepLine {
 public:
  StepLine() = default;
  // `values`: in order of events. Each value is valid until the next one. If several values have the same
  // event, the last one counts.
  explicit StepLine(std::vector<model::Since> values);

  [[nodiscard]] bool empty() const { return values_.empty(); }
  // Returns the minimum and maximum of the values after the events `first` to `last` (inclusive). The result
  // is empty() if the line begins after `last`.
  [[nodiscard]] Extremes Over(model::EventIndex first, model::EventIndex last) const;
  // Returns the value after `event`; nullopt if the line begins later.
  [[nodiscard]] std::optional<uint64_t> After(model::EventIndex event) const;
  [[nodiscard]] uint64_t peak() const;

 private:
  // Returns the number of values at or before `event`.
  [[nodiscard]] size_t CountUntil(model::EventIndex event) const;

  std::vector<model::Since> values_;
  MinMaxTree tree_;
};

// Returns the line of the driver's used memory (model::DriverDevice::UsedAfter).
[[nodiscard]] StepLine UsedLine(const model::DriverDevice& device);

}  // namespace vramscope::timeline
