// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/range_summary.h"

#include <algorithm>

namespace vramscope::viewer {

RangeSummary Summarize(const Document& document, const DeviceView& device, const TimeRange& range) {
  const model::Run& run = *document.run;
  RangeSummary summary;
  if (run.event_count() == 0) return summary;
  const auto event_at = [&](double time_ns) -> model::EventIndex {
    const model::EventIndex event = run.times.LastEventAt(time_ns <= 0 ? 0 : static_cast<uint64_t>(time_ns));
    return event == model::kNever ? 0 : event;
  };
  const model::EventIndex first = event_at(std::min(range.begin_ns, range.end_ns));
  const model::EventIndex last = event_at(std::max(range.begin_ns, range.end_ns));
  summary.live_before = device.curve.AllocatedAfter(first);
  summary.live_after = device.curve.AllocatedAfter(last);
  summary.peak = device.curve.PeakWithin(first, last + 1);
  const auto& changes = run.devices[device.index].changes;
  size_t low = 0;
  size_t high = changes.size();
  while (low < high) {  // the first one behind `first`
    const size_t middle = low + (high - low) / 2;
    changes[middle].event <= first ? low = middle + 1 : high = middle;
  }
  for (size_t i = low; i < changes.size() && changes[i].event <= last; ++i) {
    const model::Block& block = run.blocks[changes[i].block()];
    if (changes[i].freed()) {
      ++summary.frees;
      summary.freed += block.size;
      continue;
    }
    ++summary.allocations;
    summary.allocated += block.size;
    if (block.AliveAfter(last)) summary.stayed += block.size;
  }
  return summary;
}

}  // namespace vramscope::viewer
