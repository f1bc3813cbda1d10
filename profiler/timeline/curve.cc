// SPDX-License-Identifier: Apache-2.0
#include "profiler/timeline/curve.h"

#include <algorithm>

namespace vramscope::timeline {
namespace {

using model::EventIndex;
using model::Since;

// The last entry with event <= at, or nullptr.
const Since* LastUntil(const std::vector<Since>& entries, EventIndex at) {
  const auto next =
      std::upper_bound(entries.begin(), entries.end(), at,
                       [](EventIndex event, const Since& since) { return event < since.event; });
  return next == entries.begin() ? nullptr : &*(next - 1);
}

void Raise(Peak& peak, EventIndex event, uint64_t bytes) {
  if (bytes > peak.bytes) peak = {event, bytes};
}

}  // namespace

DeviceCurve::DeviceCurve(const model::Run& run, model::DeviceIndex device)
    : run_(run), device_(run.devices[device]) {
  const auto& changes = device_.changes;
  uint64_t bytes = 0;
  uint64_t requested = 0;
  uint64_t most_requested = 0;
  bool requests_known = false;
  auto unseen = device_.unseen.begin();
  uint64_t unseen_bytes = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (i % kStride == 0) chunks_.push_back({bytes, {changes[i].event, 0}});
    Apply(i, bytes);
    for (; unseen != device_.unseen.end() && unseen->event <= changes[i].event; ++unseen) {
      unseen_bytes = static_cast<uint64_t>(unseen->value);
    }
    Raise(chunks_.back().highest, changes[i].event, bytes + unseen_bytes);
    const model::Block& block = run.blocks[changes[i].block()];
    requested = changes[i].freed() ? requested - block.Requested() : requested + block.Requested();
    most_requested = std::max(most_requested, requested + unseen_bytes);
    requests_known |= block.slack != model::Block::kUnknownSlack;
  }
  if (requests_known) peak_requested_ = most_requested;
  for (const Chunk& chunk : chunks_) Raise(peak_, chunk.highest.event, chunk.highest.bytes);
}

void DeviceCurve::Apply(size_t change, uint64_t& bytes) const {
  const model::Change& what = device_.changes[change];
  const uint64_t size = run_.blocks[what.block()].size;
  bytes = what.freed() ? bytes - size : bytes + size;
}

size_t DeviceCurve::ChangesUntil(EventIndex at) const {
  size_t low = 0;
  size_t high = device_.changes.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (device_.changes[middle].event <= at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

uint64_t DeviceCurve::BlocksAfter(size_t changes) const {
  if (changes == 0) return 0;
  const size_t chunk = (changes - 1) / kStride;
  uint64_t bytes = chunks_[chunk].before;
  for (size_t i = chunk * kStride; i < changes; ++i) Apply(i, bytes);
  return bytes;
}

uint64_t DeviceCurve::AllocatedAfter(EventIndex at) const {
  return BlocksAfter(ChangesUntil(at)) + UnseenAfter(at);
}

uint64_t DeviceCurve::UnseenAfter(EventIndex at) const {
  const Since* since = LastUntil(device_.unseen, at);
  return since == nullptr ? 0 : static_cast<uint64_t>(since->value);
}

std::optional<uint64_t> DeviceCurve::ReservedAfter(EventIndex at) const {
  const Since* since = LastUntil(device_.reserved, at);
  return since == nullptr ? std::nullopt : std::optional(static_cast<uint64_t>(since->value));
}

std::optional<uint64_t> DeviceCurve::peak_reserved() const {
  if (device_.reserved.empty()) return std::nullopt;
  const auto highest = std::max_element(device_.reserved.begin(), device_.reserved.end(),
                                        [](const Since& a, const Since& b) { return a.value < b.value; });
  return static_cast<uint64_t>(highest->value);
}

Peak DeviceCurve::PeakWithin(EventIndex begin, EventIndex end) const {
  Peak peak{begin, AllocatedAfter(begin)};
  const size_t last = ChangesUntil(end - 1);
  size_t i = ChangesUntil(begin);
  uint64_t bytes = BlocksAfter(i);
  while (i < last) {
    if (i % kStride == 0 && i + kStride <= last) {  // a whole chunk inside
      const Chunk& chunk = chunks_[i / kStride];
      Raise(peak, chunk.highest.event, chunk.highest.bytes);
      i += kStride;
      bytes = i < device_.changes.size() ? chunks_[i / kStride].before : 0;
      continue;
    }
    Apply(i, bytes);
    const EventIndex event = device_.changes[i].event;
    Raise(peak, event, bytes + UnseenAfter(event));
    ++i;
  }
  return peak;
}

}  // namespace vramscope::timeline
