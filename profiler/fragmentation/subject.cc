// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/subject.h"

#include <algorithm>
#include <iterator>

namespace vramscope::fragmentation {

Moment Subject::MomentAfter(model::EventIndex event) const {
  if (origins == nullptr || event == model::kNever) return 0;
  return static_cast<Moment>(std::upper_bound(origins->begin(), origins->end(), event) - origins->begin());
}

uint64_t Subject::TraceEvents(Moment moment) const {
  return origins == nullptr || moment == 0 ? 0 : uint64_t{(*origins)[moment - 1]} + 1;
}

Moment Subject::MomentAt(uint64_t time_ns) const {
  const auto after = std::upper_bound(
      history.events.begin(), history.events.end(), time_ns,
      [&](uint64_t wanted, const allocator::Event& event) { return wanted < event.time_ns; });
  return static_cast<Moment>(after - history.events.begin());
}

uint64_t Subject::TimeOf(Moment moment) const {
  if (moment == 0 || history.events.empty()) return 0;
  return history.events[moment - 1].time_ns;
}

std::optional<uint64_t> Subject::DriverFree(Moment moment, uint64_t reserved) const {
  const auto after = std::upper_bound(room.begin(), room.end(), moment,
                                      [](Moment wanted, const Room& known) { return wanted < known.from; });
  if (after == room.begin()) return std::nullopt;
  const uint64_t bytes = std::prev(after)->bytes;
  return bytes > reserved ? bytes - reserved : 0;
}

}  // namespace vramscope::fragmentation
