// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/named_ranges.h"

#include <algorithm>
#include <unordered_map>

namespace vramscope::report {
namespace {

using model::EventIndex;

uint64_t AllocatedBefore(const timeline::DeviceCurve& curve, EventIndex event) {
  return event == 0 ? 0 : curve.AllocatedAfter(event - 1);
}

}  // namespace

std::vector<NamedRange> FindNamedRanges(const model::Run& run, const timeline::DeviceCurve& curve,
                                        size_t top) {
  std::unordered_map<uint32_t, NamedRange> by_name;
  const EventIndex end_of_trace = std::max<EventIndex>(run.times.size(), 1);
  for (const model::Range& range : run.ranges) {
    if (range.kind != trace::RangeKind::kNvtx) continue;
    if (run.threads[range.thread].process != curve.device().process) continue;
    const EventIndex end = std::max(std::min(range.end, end_of_trace), range.begin + 1);
    NamedRange& named = by_name[range.name];
    ++named.times;
    named.total_ns += run.times.TimeOf(std::min(end, end_of_trace - 1)) - run.times.TimeOf(range.begin);
    named.peak_bytes = std::max(named.peak_bytes, curve.PeakWithin(range.begin, end).bytes);
    const int64_t growth = static_cast<int64_t>(curve.AllocatedAfter(end - 1)) -
                           static_cast<int64_t>(AllocatedBefore(curve, range.begin));
    named.most_growth = named.times == 1 ? growth : std::max(named.most_growth, growth);
  }
  std::vector<NamedRange> ranges;
  for (auto& [name, named] : by_name) {
    named.name = run.source->String(name);
    ranges.push_back(std::move(named));
  }
  std::sort(ranges.begin(), ranges.end(), [](const NamedRange& a, const NamedRange& b) {
    return a.peak_bytes != b.peak_bytes ? a.peak_bytes > b.peak_bytes : a.name < b.name;
  });
  if (top != 0 && ranges.size() > top) ranges.resize(top);
  return ranges;
}

}  // namespace vramscope::report
