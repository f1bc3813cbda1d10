// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/free_halves.h"

namespace vramscope::snapshot {

FreeHalves::FreeHalves(const Snapshot& snapshot, uint32_t device) {
  if (device >= snapshot.device_traces.size()) return;
  ForEachEvent(snapshot, device, [&](const Event& event) {
    requests_ |= event.action == Action::kFreeRequested;
    completions_ |= event.action == Action::kFreeCompleted;
  });
  if (requests_ && !completions_) FindWaiting(snapshot, device);
}

void FreeHalves::FindWaiting(const Snapshot& snapshot, uint32_t device) {
  for (const Segment& segment : snapshot.segments) {
    if (segment.device != device) continue;
    for (const Block& block : segment.blocks) {
      if (block.state == BlockState::kPendingFree) waiting_[block.address] = 0;
    }
  }
  uint32_t number = 0;
  ForEachEvent(snapshot, device, [&](const Event& event) {
    const uint32_t this_one = number++;
    if (event.action != Action::kFreeRequested) return;
    if (const auto found = waiting_.find(event.address); found != waiting_.end()) found->second = this_one;
  });
}

bool FreeHalves::CompletesAtOnce(const Event& event, uint32_t number) const {
  if (completions_ || event.action != Action::kFreeRequested) return false;
  const auto waits = waiting_.find(event.address);
  return waits == waiting_.end() || waits->second != number;
}

}  // namespace vramscope::snapshot
