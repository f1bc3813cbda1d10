// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/segment_streams.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace vramscope::fragmentation {
namespace {

using allocator::Action;

// A range of memory allocated from the driver.
constexpr size_t kNoTaking = ~size_t{0};
struct Taken {
  uint64_t end = 0;
  size_t event = kNoTaking;
  bool claimed = false;  // a block was placed in it
};

std::map<uint64_t, Taken>::iterator FirstTakenAt(std::map<uint64_t, Taken>& taken, uint64_t address) {
  const auto after = taken.upper_bound(address);
  if (after == taken.begin()) return after;
  return std::prev(after)->second.end > address ? std::prev(after) : after;
}

}  // namespace

void FindStreamsOfSegments(std::vector<allocator::Event>& events) {
  std::map<uint64_t, Taken> taken;
  size_t unclaimed = 0;  // number in `taken`; usually 0, and then allocations need no lookup
  for (size_t i = 0; i < events.size(); ++i) {
    allocator::Event& event = events[i];
    const uint64_t end = event.address + event.bytes;
    if (event.action == Action::kSegmentAlloc || event.action == Action::kSegmentMap) {
      Taken& place = taken[event.address];
      unclaimed += place.event == kNoTaking || place.claimed ? 1 : 0;
      place = {end, i, false};
    } else if (event.action == Action::kAlloc && unclaimed != 0) {
      for (auto at = FirstTakenAt(taken, event.address); at != taken.end() && at->first < end; ++at) {
        if (at->second.claimed) continue;
        at->second.claimed = true;
        --unclaimed;
        events[at->second.event].stream = event.stream;
      }
    } else if (event.action == Action::kSegmentFree || event.action == Action::kSegmentUnmap) {
      const auto first = FirstTakenAt(taken, event.address);
      if (first == taken.end() || first->first >= end) continue;
      event.stream = events[first->second.event].stream;
      for (auto at = first; at != taken.end() && at->first < end;) {
        const bool all = at->second.end <= end;
        unclaimed -= all && !at->second.claimed ? 1 : 0;
        at = all ? taken.erase(at) : std::next(at);
      }
    }
  }
}

}  // namespace vramscope::fragmentation
