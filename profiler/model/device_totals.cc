// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/device_totals.h"

#include <algorithm>

namespace vramscope::model {
namespace {

// The allocator's own total and ours are computed under different locks, so two threads may make them differ
// for a moment. Only a difference that persists for this many consecutive reports is accepted.
constexpr uint32_t kBelievedAfter = 16;
constexpr uint8_t kCpu = 0;  // c10::DeviceType

}  // namespace

void DeviceTotals::NoteAlloc(DeviceIndex device, uint64_t bytes, uint64_t total_allocated,
                             uint64_t total_reserved, EventIndex now) {
  devices_[device].allocated += bytes;
  Check(device, true, total_allocated, total_reserved, now);
}

void DeviceTotals::NoteFree(DeviceIndex device, uint64_t total_allocated, uint64_t total_reserved,
                            EventIndex now) {
  Check(device, false, total_allocated, total_reserved, now);
}

void DeviceTotals::Check(DeviceIndex index, bool allocation, uint64_t total_allocated,
                         uint64_t total_reserved, EventIndex now) {
  Device& device = run_.devices[index];
  State& state = devices_[index];
  // CPU allocators count separately and lose counts, so their totals prove nothing.
  if (trace::DeviceTypeOf(device.code) == kCpu) return;
  const bool first = !state.reports_totals;
  if (allocation && total_allocated != 0) state.reports_totals = true;
  if (!state.reports_totals) return;

  if (state.reserved != total_reserved) {
    state.reserved = total_reserved;
    device.reserved.push_back({now, static_cast<int64_t>(total_reserved)});
  }
  const auto difference = static_cast<int64_t>(total_allocated - state.allocated);
  if (difference == state.unseen) {
    state.candidate_streak = 0;
    return;
  }
  if (!first) ++run_.anomalies.total_mismatches;
  state.candidate_streak = difference == state.unseen_candidate ? state.candidate_streak + 1 : 1;
  state.unseen_candidate = difference;
  // A total below our sum means that frees were missed. Which blocks were freed is unknown, so all of them
  // are kept.
  if ((!first && state.candidate_streak < kBelievedAfter) || difference < 0) return;
  state.unseen = difference;
  device.unseen.push_back({now, difference});
}

void DeviceTotals::NoteSegment(const SegmentChange& change) {
  for (const DeviceIndex index : run_.processes[change.process].devices) {
    State& state = devices_[index];
    if (run_.devices[index].code != change.device_code || !state.reports_totals) continue;
    state.reserved =
        change.came ? state.reserved + change.size : state.reserved - std::min(state.reserved, change.size);
    run_.devices[index].reserved.push_back({change.event, static_cast<int64_t>(state.reserved)});
  }
}

}  // namespace vramscope::model
