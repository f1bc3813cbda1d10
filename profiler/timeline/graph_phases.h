// SPDX-License-Identifier: Apache-2.0
// The phases of steps that run as one compiled graph, from the names of operators: the counter "step.phase".
//
//   value    1 ─────── 2 ──── 3 ── 2 ──── 3 ──────── 0
//            forward   backward,          optimizer  the call returned
//                      optimizer
#pragma once

#include <vector>

#include "profiler/timeline/windows.h"

namespace vramscope::timeline {

// Window::id of these windows. Steps end at marks, not at these windows.
inline constexpr uint64_t kGraphWindow = ~uint64_t{0};

struct GraphPhases {
  std::vector<Window> windows;    // backward and optimizer, in order
  std::vector<Interval> forward;  // in order
};

[[nodiscard]] GraphPhases FindGraphPhases(const model::Run& run, model::ProcessIndex process);

}  // namespace vramscope::timeline
