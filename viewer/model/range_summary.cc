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
  const LiveIndex::Totals before = device.live.Until(first);
  const LiveIndex::Totals after = device.live.Until(last);
  summary.allocations = after.allocations - before.allocations;
  summary.allocated = after.allocated - before.allocated;
  summary.frees = after.frees - before.frees;
  summary.freed = after.freed - before.freed;
  for (const model::BlockId id : device.live.At(last)) {
    const model::Block& block = run.blocks[id];
    if (block.alloc_event > first) summary.stayed += block.size;
  }
  return summary;
}

}  // namespace vramscope::viewer
