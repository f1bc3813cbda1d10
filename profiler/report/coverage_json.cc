// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/coverage_json.h"

#include <nlohmann/json.hpp>

namespace vramscope::report {

const char* CoverageStateKey(trace::CoverageState state) {
  switch (state) {
    case trace::CoverageState::kHooked:
      return "hooked";
    case trace::CoverageState::kProven:
      return "proven";
    case trace::CoverageState::kDisabled:
      return "disabled";
    case trace::CoverageState::kMissing:
      break;
  }
  return "missing";
}

nlohmann::ordered_json CoverageJson(std::span<const model::Hook> hooks) {
  nlohmann::ordered_json coverage = nlohmann::ordered_json::array();
  for (const model::Hook& hook : hooks) {
    coverage.push_back({{"hook", hook.name},
                        {"state", CoverageStateKey(hook.state)},
                        {"detail", hook.detail},
                        {"processes", hook.processes},
                        {"failures", hook.failures},
                        {"failure", hook.failure.empty() ? nlohmann::ordered_json(nullptr)
                                                         : nlohmann::ordered_json(hook.failure)}});
  }
  return coverage;
}

}  // namespace vramscope::report
