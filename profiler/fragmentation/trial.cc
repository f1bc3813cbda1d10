// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/trial.h"

#include <vector>

#include "profiler/allocator/rerun.h"

namespace vramscope::fragmentation {
namespace {

std::string KeyOf(const std::string& setting) { return setting.substr(0, setting.find(':')); }

// Settings are divided by commas outside of brackets.
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

Result<Trial> TrySettings(const allocator::History& history, Moment failure, uint64_t room,
                          const std::string& settings) {
  const auto run = allocator::Rerun(
      history,
      {.settings = settings, .capacity = room, .keep_earlier_segments = true, .last_event = failure});
  if (!run.ok()) return run.error();
  Trial trial;
  trial.settings = settings;
  trial.end = !run->first_failure              ? TrialEnd::kFits
              : *run->first_failure == failure ? TrialEnd::kFails
                                               : TrialEnd::kFailsBefore;
  if (trial.end == TrialEnd::kFailsBefore) trial.failed_at = static_cast<Moment>(*run->first_failure);
  trial.reserved = run->statistics.all.reserved_bytes.current;
  trial.driver_free = run->driver_free;
  return trial;
}

}  // namespace vramscope::fragmentation
