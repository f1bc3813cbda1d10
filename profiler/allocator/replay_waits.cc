// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/replay_waits.h"

#include <algorithm>

namespace vramscope::allocator {

std::optional<size_t> CompletionsBefore(const std::vector<Event>& events, const ReplayResult& result) {
  if (!result.first_divergence || result.first_divergence->contradiction) return std::nullopt;
  size_t at = std::min<size_t>(result.first_divergence->event, events.size());
  while (at > 0 && events[at - 1].action == Action::kSegmentMap) --at;
  const size_t end = at;
  while (at > 0 && events[at - 1].action == Action::kFreeCompleted) --at;
  // A free that completed immediately after its request does not count.
  if (at > 0 && at < end && events[at - 1].action == Action::kFreeRequested &&
      events[at - 1].address == events[at].address)
    ++at;
  return at < end ? std::optional(at) : std::nullopt;
}

}  // namespace vramscope::allocator
