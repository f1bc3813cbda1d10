// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/segment_changes.h"

#include <algorithm>

namespace vramscope::snapshot {
namespace {

// True if `next` continues where `last` ends, without an allocation in between.
bool Continues(const model::Run& run, const SegmentChange& last, const SegmentChange& next) {
  return last.mapped && next.mapped && last.came == next.came && last.device_code == next.device_code &&
         last.address + last.bytes == next.address &&
         run.FirstBlockFrom(last.at) == run.FirstBlockFrom(next.at);
}

}  // namespace

std::vector<SegmentChange> SegmentChangesOf(const model::Run& run, model::ProcessIndex process) {
  std::vector<SegmentChange> all;
  for (const model::Segment& segment : run.driver.segments) {
    if (segment.process != process) continue;
    SegmentChange change{segment.begin, segment.address, segment.size, 0, segment.device_code,
                         true,          segment.mapped};
    if (segment.allocation != model::kNone) change.stack = run.driver.allocations[segment.allocation].stack;
    all.push_back(change);
    if (segment.end == model::kNever) continue;
    change.at = segment.end;
    change.came = false;
    change.stack = 0;
    all.push_back(change);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const SegmentChange& a, const SegmentChange& b) { return a.at < b.at; });
  std::vector<SegmentChange> joined;
  for (const SegmentChange& change : all) {
    if (!joined.empty() && Continues(run, joined.back(), change)) {
      joined.back().bytes += change.bytes;
      joined.back().at = change.at;
    } else {
      joined.push_back(change);
    }
  }
  return joined;
}

}  // namespace vramscope::snapshot
