// SPDX-License-Identifier: Apache-2.0
// Places in the open runs, and the history for "back".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/model/run.h"
#include "viewer/model/memory_axis.h"
#include "viewer/model/time_view.h"

namespace vramscope::viewer {

// In the order of text::kViewNames.
enum class Tab : uint8_t {
  kSummary,
  kTimeline,
  kOwners,
  kMap,
  kAddressTime,
  kFragmentation,
  kOutOfMemory,
  kLeaks,
  kCompare,
  kWhatIf,
  kRanks
};
inline constexpr size_t kTabCount = static_cast<size_t>(Tab::kRanks) + 1;
[[nodiscard]] const char* TabKey(Tab tab);  // "timeline": for --view and scripts
[[nodiscard]] std::optional<Tab> TabFromKey(std::string_view key);

struct TimeRange {
  double begin_ns = 0;
  double end_ns = 0;
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

// The place that "back" returns to.
struct Place {
  size_t file = 0;
  size_t device = 0;
  Tab tab = Tab::kSummary;
  TimeView window;
  MemoryZoom memory;  // of the timeline
  model::EventIndex moment = 0;
  std::optional<TimeRange> range;
  model::BlockId block = model::kNone;
  friend bool operator==(const Place&, const Place&) = default;
};

// The places that the user has left. Callers report jumps with Remember. See notices other moves (zoom, drag,
// click). Moves within kOneMove count as one.
class PlaceHistory {
 public:
  static constexpr double kOneMove = 0.6;  // seconds

  // Call before a jump from `place`.
  void Remember(const Place& place);
  // Call in every frame, with the seconds since the last. `keep(place)` returns false for a place not worth a
  // return.
  template <typename Keep>
  void See(const Place& place, double seconds, const Keep& keep) {
    still_for_ += seconds;
    if (place == seen_) return;
    if (still_for_ >= kOneMove && keep(seen_)) Remember(seen_);
    still_for_ = 0;
    seen_ = place;
  }
  // Call when the program, not the user, has changed the place.
  void Settle(const Place& place) { seen_ = place; }
  [[nodiscard]] bool can_go_back() const { return !back_.empty(); }
  [[nodiscard]] bool can_go_forward() const { return !forward_.empty(); }
  // Set `place` to the previous or next place, if any.
  void Back(Place& place) { Restore(back_, forward_, place); }
  void Forward(Place& place) { Restore(forward_, back_, place); }
  // Call when a file has changed: calls change(place) for each place.
  void ForEach(const std::function<void(Place&)>& change);
  void Clear();

 private:
  void Restore(std::vector<Place>& from, std::vector<Place>& to, Place& place);

  std::vector<Place> back_;
  std::vector<Place> forward_;
  Place seen_;                   // in the last frame
  double still_for_ = kOneMove;  // seconds since the last move
};

}  // namespace vramscope::viewer
