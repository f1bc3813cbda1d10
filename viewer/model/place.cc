// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/place.h"

#include <algorithm>

#include "profiler/text/view_names.h"

namespace vramscope::viewer {
namespace {

static_assert(text::kViewNames.size() == kTabCount, "a view has no name, or a name no view");
constexpr size_t kMostPlaces = 200;

}  // namespace

const char* TabKey(Tab tab) { return text::kViewNames[static_cast<size_t>(tab)]; }

std::optional<Tab> TabFromKey(std::string_view key) {
  for (size_t i = 0; i < kTabCount; ++i) {
    if (key == text::kViewNames[i]) return static_cast<Tab>(i);
  }
  return std::nullopt;
}

void PlaceHistory::Remember(const Place& place) {
  if (!back_.empty() && back_.back() == place) return;
  back_.push_back(place);
  if (back_.size() > kMostPlaces) back_.erase(back_.begin());
  forward_.clear();
}

void PlaceHistory::Restore(std::vector<Place>& from, std::vector<Place>& to, Place& place) {
  if (from.empty()) return;
  if (from.back() == place) from.pop_back();  // a jump that went nowhere
  if (from.empty()) return;
  to.push_back(place);
  place = from.back();
  from.pop_back();
  Settle(place);
}

void PlaceHistory::ForEach(const std::function<void(Place&)>& change) {
  std::ranges::for_each(back_, change);
  std::ranges::for_each(forward_, change);
  change(seen_);
}

void PlaceHistory::Clear() {
  back_.clear();
  forward_.clear();
}

}  // namespace vramscope::viewer
