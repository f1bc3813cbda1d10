// SPDX-License-Identifier: Apache-2.0
// Which hooks were in place and which failed, over all processes.
//
//   process 1   python.names hooked    python.names failed (KeyError: 7)    python.names failed
//   process 2   python.names proven
//                                      -> proven, 2 processes, 2 failures
//
// A failed hook still counts as in place.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/model/run.h"

namespace vramscope::model {

// The hook itself raised an error. The program's call continued. One event per failure; the first has the
// error as its detail.
inline constexpr auto kHookFailed = static_cast<trace::CoverageState>(4);

struct Hook {
  std::string name;
  trace::CoverageState state{};  // the best state that any process reported
  std::string detail;
  uint64_t processes = 0;  // number of processes that reported it
  uint64_t failures = 0;
  std::string failure;  // the first failure: "KeyError: 7"

  [[nodiscard]] bool in_place() const {
    return state == trace::CoverageState::kHooked || state == trace::CoverageState::kProven;
  }
};

// Sorted by name. `coverage` is in trace order. The last state of each process counts.
[[nodiscard]] std::vector<Hook> HooksOf(std::span<const Coverage> coverage);

}  // namespace vramscope::model
