// SPDX-License-Identifier: Apache-2.0
// Combines the coverage reports of all processes: for each hook, whether it was in place and how often it
// failed.
//
//   process 1 reports:   python.names hooked, python.names failed (KeyError: 7), python.names failed
//   process 2 reports:   python.names proven
//   result:              python.names: proven, 2 processes, 2 failures
//
// A hook that failed at some calls still counts as in place.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/model/run.h"

namespace vramscope::model {

// State of a report that the hook itself raised an error; the program's call continued. There is one report
// for each failure. The first one has the error's text as its detail.
inline constexpr auto kHookFailed = static_cast<trace::CoverageState>(4);

struct Hook {
  std::string name;
  trace::CoverageState state{};  // the best state that any process reported
  std::string detail;
  uint64_t processes = 0;  // number of processes that reported this hook
  uint64_t failures = 0;
  std::string failure;  // the first failure: "KeyError: 7"

  [[nodiscard]] bool in_place() const {
    return state == trace::CoverageState::kHooked || state == trace::CoverageState::kProven;
  }
};

// Returns one entry for each hook, sorted by name. `coverage`: all reports in the order of the trace. If a
// process reported several states of a hook, its last state counts.
[[nodiscard]] std::vector<Hook> HooksOf(std::span<const Coverage> coverage);

}  // namespace vramscope::model
