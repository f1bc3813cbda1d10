// SPDX-License-Identifier: Apache-2.0
// A place is what the user currently looks at: file, device, tab, visible time, selection. The history of
// places is for the commands "back" and "forward".
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

// The tabs of the viewer, in the order of text::kViewNames.
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
[[nodiscard]] const char* TabKey(Tab tab);  // name for --view and scripts: "timeline"
[[nodiscard]] std::optional<Tab> TabFromKey(std::string_view key);

struct TimeRange {
  double begin_ns = 0;
  double end_ns = 0;
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

struct Place {
  size_t file = 0;    // index of the open file
  size_t device = 0;  // index into Document::devices
  Tab tab = Tab::kSummary;
  TimeView window;                      // visible time
  MemoryZoom memory;                    // visible memory of the timeline
  model::EventIndex moment = 0;         // the moment that all views show
  std::optional<TimeRange> range;       // selected time range
  model::BlockId block = model::kNone;  // selected block
  friend bool operator==(const Place&, const Place&) = default;
};

// The places that the user has left. The caller reports a jump with Remember. See finds other moves (zoom,
// drag, click). A move less than kOneMove seconds after the move before it counts as the same move.
class PlaceHistory {
 public:
  static constexpr double kOneMove = 0.6;  // seconds

  // Call before a jump from `place`.
  void Remember(const Place& place);
  // Call in every frame. `seconds`: time since the last frame. `keep(place)` must return false if the user
  // would not want to return to the place.
  template <typename Keep>
  void See(const Place& place, double seconds, const Keep& keep) {
    still_for_ += seconds;
    if (place == seen_) return;
    if (still_for_ >= kOneMove && keep(seen_)) Remember(seen_);
    still_for_ = 0;
    seen_ = place;
  }
  // Call when the program and not the user has changed the place. The old place is not added to the history.
  void Settle(const Place& place) { seen_ = place; }
  [[nodiscard]] bool can_go_back() const { return !back_.empty(); }
  [[nodiscard]] bool can_go_forward() const { return !forward_.empty(); }
  // Set `place` to the previous or the next place. Do nothing if there is none.
  void Back(Place& place) { Restore(back_, forward_, place); }
  void Forward(Place& place) { Restore(forward_, back_, place); }
  // Calls change(place) for each place of the history. Call when the places of a file have changed.
  void ForEach(const std::function<void(Place&)>& change);
  void Clear();

 private:
  void Restore(std::vector<Place>& from, std::vector<Place>& to, Place& place);

  std::vector<Place> back_;
  std::vector<Place> forward_;
  Place seen_;                   // the place in the last frame
  double still_for_ = kOneMove;  // seconds since the last move
};

}  // namespace vramscope::viewer
