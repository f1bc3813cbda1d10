// SPDX-License-Identifier: Apache-2.0
// Which hooks were in place and which failed, over all processes.
//
//   process 1   python.names hooked    python.names failed (KeyError: 7)    python.names failed
//   process 2   python.names proven
//                                      -> proven, 2 processes, 2 failures
//
// A hook that failed still counts as in place: a failure does not change the state.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/model/run.h"

namespace vramscope::model {

// The hook itself raised an error, and the program's call continued without it. One event per failure; the
// first one has the error as its detail.
inline constexpr auto kHookFailed = static_cast<trace::CoverageState>(4);

// One hook over all processes.
struct Hook {
  std::string name;
  trace::CoverageState state{};  // the best that any process reported: a worker does not use every hook
  std::string detail;
  uint64_t processes = 0;  // number of processes that reported it
  uint64_t failures = 0;
  std::string failure;  // the first failure: "KeyError: 7"

  [[nodiscard]] bool in_place() const {
    return state == trace::CoverageState::kHooked || state == trace::CoverageState::kProven;
  }
};

// Sorted by name. `coverage` is in trace order; the last state that a process reported counts.
[[nodiscard]] std::vector<Hook> HooksOf(std::span<const Coverage> coverage);

}  // namespace vramscope::model
