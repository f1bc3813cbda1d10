// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/range_lanes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "profiler/text/harmless.h"

namespace vramscope::viewer {
namespace {

using model::EventIndex;
using trace::RangeKind;

constexpr size_t kDeepest = 32;
// Narrower ranges share a piece with their neighbors.
constexpr double kOwnPiece = 1.5;  // pixels

int OrderOf(RangeKind kind) {
  switch (kind) {
    case RangeKind::kNvtx:
      return 0;
    case RangeKind::kScope:
      return 1;
    case RangeKind::kModule:
      return 2;
    default:
      return -1;
  }
}

EventIndex EndEvent(const model::Run& run, const model::Range& range) {
  return std::max(std::min(range.end, run.event_count()), range.begin + 1);
}

}  // namespace

const char* LaneTitle(RangeKind kind) {
  return kind == RangeKind::kNvtx ? "NVTX" : kind == RangeKind::kScope ? "scopes" : "modules";
}

RangeLanes::RangeLanes(const model::Run& run, model::ProcessIndex process) : run_(&run) {
  std::map<std::tuple<int, model::ThreadIndex>, std::vector<Lane>> groups;
  for (const uint32_t index : run.processes[process].ranges) {
    const model::Range& range = run.ranges[index];
    const int order = OrderOf(range.kind);
    if (order < 0) continue;
    std::vector<Lane>& lanes = groups[{order, range.thread}];
    // The first lane that is free: in ranges that nest, the depth.
    const auto free = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& lane) {
      return EndEvent(run, run.ranges[lane.ranges.back()]) <= range.begin;
    });
    if (free != lanes.end()) {
      free->ranges.push_back(index);
    } else if (lanes.size() < kDeepest) {
      lanes.push_back({range.kind, range.thread, lanes.size(), {index}, {}, {}});
    } else {
      ++left_out_;
    }
  }
  for (auto& [key, lanes] : groups) {
    for (Lane& lane : lanes) {
      for (const uint32_t range : lane.ranges) {
        lane.begins.push_back(BeginOf(range));
        lane.ends.push_back(EndOf(range));
      }
      lanes_.push_back(std::move(lane));
    }
  }
}

double RangeLanes::BeginOf(uint32_t range) const {
  return static_cast<double>(run_->times.TimeOf(run_->ranges[range].begin));
}

double RangeLanes::EndOf(uint32_t range) const {
  const EventIndex last = run_->event_count() - 1;
  return static_cast<double>(run_->times.TimeOf(std::min(run_->ranges[range].end, last)));
}

std::vector<LanePiece> RangeLanes::Pieces(size_t lane, const TimeView& view, double width) const {
  const std::vector<double>& begins = lanes_[lane].begins;
  const std::vector<double>& ends = lanes_[lane].ends;
  std::vector<LanePiece> pieces;
  const auto x_of = [&](double time_ns) { return view.PlaceOf(time_ns) * width; };
  auto i = static_cast<size_t>(std::lower_bound(ends.begin(), ends.end(), view.begin()) - ends.begin());
  while (i < begins.size() && begins[i] <= view.end()) {
    const double x0 = x_of(begins[i]);
    const double x1 = x_of(ends[i]);
    if (x1 - x0 >= kOwnPiece) {
      pieces.push_back({i, 1, x0, x1});
      ++i;
      continue;
    }
    const double pixel_end = std::floor(x0) + 1;
    const auto from = begins.begin() + static_cast<ptrdiff_t>(i) + 1;
    const auto behind = std::lower_bound(from, begins.end(), view.TimeAt(pixel_end / width));
    auto next = static_cast<size_t>(behind - begins.begin());
    // Only the last of them can reach beyond the pixel; if it is wide, it is a piece of its own.
    if (next - i > 1 && x_of(ends[next - 1]) - x_of(begins[next - 1]) >= kOwnPiece) --next;
    pieces.push_back({i, next - i, std::floor(x0), std::max(pixel_end, x_of(ends[next - 1]))});
    i = next;
  }
  return pieces;
}

RangeFacts FactsOf(const model::Run& run, const timeline::DeviceCurve& curve, uint32_t index) {
  const model::Range& range = run.ranges[index];
  const EventIndex end = EndEvent(run, range);
  RangeFacts facts;
  facts.name = text::OneLine(run.Text(range.name));
  const EventIndex last = run.event_count() - 1;
  facts.duration_ns = run.times.TimeOf(std::min(range.end, last)) - run.times.TimeOf(range.begin);
  facts.peak = curve.PeakWithin(range.begin, end);
  const uint64_t before = range.begin == 0 ? 0 : curve.AllocatedAfter(range.begin - 1);
  facts.growth = static_cast<int64_t>(curve.AllocatedAfter(end - 1)) - static_cast<int64_t>(before);
  facts.ended = range.end < run.event_count();
  return facts;
}

}  // namespace vramscope::viewer
