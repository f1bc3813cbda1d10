// SPDX-License-Identifier: Apache-2.0
// What was hooked and what failed, of all processes together.
//
//   process 1   python.names hooked    python.names failed (KeyError: 7)    python.names failed
//   process 2   python.names proven
//                                      -> proven, 2 processes, 2 failures
//
// A hook that failed was in place: a failure changes no state.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/model/run.h"

namespace vramscope::model {

// The hook raised an error of its own and stepped aside, once for each such event. Detail: the error, the
// first time.
inline constexpr auto kHookFailed = static_cast<trace::CoverageState>(4);

// One hook over all processes.
struct Hook {
  std::string name;
  trace::CoverageState state{};  // the best that any process reported: a worker does not use everything
  std::string detail;
  uint64_t processes = 0;  // that reported it
  uint64_t failures = 0;
  std::string failure;  // the first: "KeyError: 7"

  [[nodiscard]] bool in_place() const {
    return state == trace::CoverageState::kHooked || state == trace::CoverageState::kProven;
  }
};

// By name. `coverage`: in the order of the trace; what a process said last is its state.
[[nodiscard]] std::vector<Hook> HooksOf(std::span<const Coverage> coverage);

}  // namespace vramscope::model
