// SPDX-License-Identifier: Apache-2.0
// Finds the phases of steps that run as one compiled graph (JAX, TensorFlow). The recorder writes them as the
// counter "step.phase": 1 = forward, 2 = backward, 3 = optimizer, 0 = the call has returned. Backward and
// optimizer may alternate:
//
//   value    1 ─────── 2 ──── 3 ── 2 ──── 3 ──────── 0
#pragma once

#include <vector>

#include "profiler/timeline/windows.h"

namespace vramscope::timeline {

// The Window::id of all windows of this file. They do not end a step; marks in the trace do.
inline constexpr uint64_t kGraphWindow = ~uint64_t{0};

struct GraphPhases {
  std::vector<Window> windows;    // of backward and optimizer, in order of time
  std::vector<Interval> forward;  // in order of time
};

[[nodiscard]] GraphPhases FindGraphPhases(const model::Run& run, model::ProcessIndex process);

}  // namespace vramscope::timeline
