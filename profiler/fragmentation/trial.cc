// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/trial.h"

#include <vector>

#include "profiler/allocator/rerun.h"

namespace vramscope::fragmentation {
namespace {

std::string KeyOf(const std::string& setting) { return setting.substr(0, setting.find(':')); }

// Splits settings at the commas outside brackets.
std::vector<std::string> Split(const std::string& settings) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : settings) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else if (c != ' ') {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

std::string WithSetting(const std::string& base, const std::string& setting) {
  const std::string others = WithoutSetting(base, KeyOf(setting));
  return others.empty() ? setting : others + "," + setting;
}

std::string WithoutSetting(const std::string& base, const std::string& key) {
  std::string all;
  for (const std::string& part : Split(base)) {
    if (part.empty() || KeyOf(part) == key) continue;
    all += (all.empty() ? "" : ",") + part;
  }
  return all;
}

std::optional<std::string> SettingIn(const std::string& settings, const std::string& key) {
  for (const std::string& part : Split(settings)) {
    if (KeyOf(part) == key && part.size() > key.size()) return part.substr(key.size() + 1);
  }
  return std::nullopt;
}

namespace {

// The history up to the failure, with the failed request and the upcoming ones as ordinary requests.
allocator::History WithUpcoming(const allocator::History& history, Moment failure,
                                std::span<const uint64_t> upcoming) {
  constexpr uint64_t kFirst = uint64_t{1} << 62;  // no device has addresses there
  allocator::History longer = history;
  longer.events.resize(failure + 1);
  longer.events.back().action = allocator::Action::kAlloc;
  longer.events.back().address = kFirst;
  for (size_t i = 0; i < upcoming.size(); ++i) {
    allocator::Event event = longer.events[failure];
    event.address = kFirst + (i + 1) * (uint64_t{1} << 32);
    event.bytes = upcoming[i];
    longer.events.push_back(event);
  }
  return longer;
}

}  // namespace

Result<Trial> TrySettings(const allocator::History& history, Moment failure, uint64_t room,
                          const std::string& settings, std::span<const uint64_t> upcoming) {
  allocator::RerunRequest request{.settings = settings, .capacity = room, .keep_earlier_segments = true};
  request.last_event = failure + upcoming.size();
  const auto run =
      VRAMSCOPE_TRY(upcoming.empty() ? allocator::Rerun(history, request)
                                     : allocator::Rerun(WithUpcoming(history, failure, upcoming), request));
  Trial trial;
  trial.settings = settings;
  if (run.first_failure.has_value()) {
    const auto at = static_cast<Moment>(*run.first_failure);
    trial.end = at == failure  ? TrialEnd::kFails
                : at < failure ? TrialEnd::kFailsBefore
                               : TrialEnd::kFailsAfter;
    if (at < failure) trial.failed_at = at;
    if (at > failure) trial.served = at - failure - 1;
  } else {
    trial.end = TrialEnd::kFits;
  }
  trial.reserved = run.statistics.all.reserved_bytes.current;
  trial.driver_free = run.driver_free;
  return trial;
}

}  // namespace vramscope::fragmentation
