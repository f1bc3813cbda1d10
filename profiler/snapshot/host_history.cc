// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/host_history.h"

#include <utility>

namespace vramscope::snapshot {

void HostHistory::Take(const trace::Event& event, uint64_t time_us) {
  const bool came = event.type == trace::EventType::kDriverAlloc;
  const size_t flags = came ? size_t{trace::driver_alloc::kFlags} : size_t{trace::driver_free::kFlags};
  const size_t result = came ? size_t{trace::driver_alloc::kResult} : size_t{trace::driver_free::kResult};
  const bool pinned = trace::DriverMemoryOf(event.field[flags]) == trace::DriverMemory::kHostPinned;
  if (!pinned || event.field[result] != 0) return;
  Event told;
  told.action = came ? Action::kSegmentAlloc : Action::kSegmentFree;
  told.address = event.field[trace::driver_alloc::kAddress];
  told.time_us = time_us;
  uint64_t& held = held_[told.address];
  if (came) held = event.field[trace::driver_alloc::kSize];
  told.bytes = held;
  if (!came) held_.erase(told.address);
  events_.push_back(told);
}

void HostHistory::MoveTo(Snapshot* snapshot) {
  if (!events_.empty()) {
    snapshot->host_trace.push_back(
        {static_cast<uint32_t>(snapshot->events.size()), static_cast<uint32_t>(events_.size())});
    for (const Event& event : events_) snapshot->events.push_back(event);
  }
  for (const auto& [address, bytes] : held_) {
    Segment segment;
    segment.device = kHostDevice;
    segment.address = address;
    segment.bytes = segment.allocated_bytes = segment.active_bytes = segment.requested_bytes = bytes;
    segment.large = false;
    segment.blocks.push_back({address, bytes, bytes, 0, BlockState::kAllocated});
    snapshot->host_segments.push_back(std::move(segment));
  }
}

}  // namespace vramscope::snapshot
