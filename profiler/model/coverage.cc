// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/coverage.h"

#include <map>

namespace vramscope::model {
namespace {

using trace::CoverageState;

int Rank(CoverageState state) {
  switch (state) {
    case CoverageState::kProven:
      return 3;
    case CoverageState::kHooked:
      return 2;
    case CoverageState::kDisabled:
      return 1;
    case CoverageState::kMissing:
      break;
  }
  return 0;
}

struct Reports {
  std::map<ProcessIndex, const Coverage*> last;  // nullptr: only failures
  uint64_t failures = 0;
  std::string failure;
};

Hook Merge(const std::string& name, const Reports& reports) {
  Hook hook{name, CoverageState::kMissing, "", reports.last.size(), reports.failures, reports.failure};
  for (const auto& [process, said] : reports.last) {
    const CoverageState state = said != nullptr ? said->state : CoverageState::kHooked;
    if (process != reports.last.begin()->first && Rank(state) < Rank(hook.state)) continue;
    hook.state = state;
    hook.detail = said != nullptr ? said->detail : "";
  }
  return hook;
}

}  // namespace

std::vector<Hook> HooksOf(std::span<const Coverage> coverage) {
  std::map<std::string, Reports> all;
  for (const Coverage& one : coverage) {
    Reports& reports = all[one.hook];
    const Coverage*& last = reports.last[one.process];
    if (one.state != kHookFailed) {
      last = &one;
      continue;
    }
    ++reports.failures;
    if (reports.failure.empty()) reports.failure = one.detail;
  }
  std::vector<Hook> hooks;
  for (const auto& [name, reports] : all) hooks.push_back(Merge(name, reports));
  return hooks;
}

}  // namespace vramscope::model
