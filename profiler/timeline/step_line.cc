// SPDX-License-Identifier: Apache-2.0
#include "profiler/timeline/step_line.h"

#include <algorithm>
#include <utility>

namespace vramscope::timeline {

using model::EventIndex;
using model::Since;

StepLine::StepLine(std::vector<Since> values) {
  for (const Since& value : values) {
    if (!values_.empty() && values_.back().event == value.event) values_.pop_back();
    values_.push_back(value);
  }
  std::vector<Extremes> each(values_.size());
  for (size_t i = 0; i < values_.size(); ++i) each[i].Add(values_[i].value, static_cast<uint32_t>(i));
  tree_ = MinMaxTree(std::move(each));
}

size_t StepLine::CountUntil(EventIndex event) const {
  const auto next = std::upper_bound(values_.begin(), values_.end(), event,
                                     [](EventIndex at, const Since& since) { return at < since.event; });
  return static_cast<size_t>(next - values_.begin());
}

Extremes StepLine::Over(EventIndex first, EventIndex last) const {
  const size_t entering = CountUntil(first);
  return tree_.Within(entering == 0 ? 0 : entering - 1, CountUntil(last));
}

std::optional<uint64_t> StepLine::After(EventIndex event) const {
  const size_t count = CountUntil(event);
  if (count == 0) return std::nullopt;
  return static_cast<uint64_t>(values_[count - 1].value);
}

uint64_t StepLine::peak() const {
  const Extremes all = tree_.Within(0, values_.size());
  return all.empty() ? 0 : static_cast<uint64_t>(std::max<int64_t>(all.high, 0));
}

StepLine UsedLine(const model::DriverDevice& device) {
  std::vector<Since> values;
  auto sample = device.samples.begin();
  bool known = false;
  int64_t used = 0;
  const auto add_samples_before = [&](EventIndex event) {
    for (; sample != device.samples.end() && sample->event < event; ++sample) {
      known = true;
      used = static_cast<int64_t>(sample->used);
      values.push_back({sample->event, used});
    }
  };
  for (const model::DriverChange& change : device.changes) {
    add_samples_before(change.event);  // a sample counts after the changes of its own event
    if (!known) continue;
    used += change.bytes;
    values.push_back({change.event, std::max<int64_t>(used, 0)});
  }
  add_samples_before(model::kNever);
  return StepLine(std::move(values));
}

}  // namespace vramscope::timeline
