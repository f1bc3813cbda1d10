// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/live_index.h"

#include <algorithm>

namespace vramscope::viewer {

using model::BlockId;
using model::EventIndex;

LiveIndex::LiveIndex(const model::Run& run, model::DeviceIndex device)
    : run_(run), device_(run.devices[device]) {
  Totals totals;
  checkpoints_.push_back({});
  size_t stride = kLeastStride;
  const auto& changes = device_.changes;
  for (size_t i = 0; i < changes.size(); ++i) {
    Count(changes[i], totals);
    // Between two changes of one event there is no moment.
    const bool whole = i + 1 == changes.size() || changes[i + 1].event != changes[i].event;
    if (i + 1 - checkpoints_.back().changes < stride || !whole) continue;
    std::vector<BlockId> live;
    Collect(checkpoints_.size() - 1, i + 1, changes[i].event, live);
    checkpoints_.push_back({i + 1, totals, live_.size()});
    live_.insert(live_.end(), live.begin(), live.end());
    stride = std::max(kLeastStride, kStridePerBlock * live.size());
  }
}

void LiveIndex::Count(const model::Change& change, Totals& totals) const {
  const uint64_t size = run_.blocks[change.block()].size;
  if (change.freed()) {
    ++totals.frees;
    totals.freed += size;
  } else {
    ++totals.allocations;
    totals.allocated += size;
  }
}

size_t LiveIndex::ChangesUntil(EventIndex event) const {
  const auto& changes = device_.changes;
  size_t low = 0;
  size_t high = changes.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (changes[middle].event <= event)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

size_t LiveIndex::CheckpointBefore(size_t changes) const {
  const auto after =
      std::upper_bound(checkpoints_.begin(), checkpoints_.end(), changes,
                       [](size_t wanted, const Checkpoint& at) { return wanted < at.changes; });
  return static_cast<size_t>(after - checkpoints_.begin() - 1);
}

void LiveIndex::Collect(size_t checkpoint, size_t changes, EventIndex event,
                        std::vector<BlockId>& live) const {
  const auto keep = [&](BlockId block) {
    if (run_.blocks[block].free_event > event) live.push_back(block);
  };
  const Checkpoint& from = checkpoints_[checkpoint];
  const size_t last_live =
      checkpoint + 1 < checkpoints_.size() ? checkpoints_[checkpoint + 1].first_live : live_.size();
  for (size_t i = from.first_live; i < last_live; ++i) keep(live_[i]);
  for (size_t i = from.changes; i < changes; ++i) {
    if (!device_.changes[i].freed()) keep(device_.changes[i].block());
  }
}

std::vector<BlockId> LiveIndex::At(EventIndex event) const {
  const size_t changes = ChangesUntil(event);
  std::vector<BlockId> live;
  Collect(CheckpointBefore(changes), changes, event, live);
  return live;
}

LiveIndex::Totals LiveIndex::Until(EventIndex event) const {
  const size_t changes = ChangesUntil(event);
  const Checkpoint& from = checkpoints_[CheckpointBefore(changes)];
  Totals totals = from.totals;
  for (size_t i = from.changes; i < changes; ++i) Count(device_.changes[i], totals);
  return totals;
}

}  // namespace vramscope::viewer
