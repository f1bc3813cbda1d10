// SPDX-License-Identifier: Apache-2.0
// Chooses the time range that the viewer shows when a file is opened: the training steps.
//
// Without this choice, the steps could be too narrow to see: a program may import and compile for half a
// minute, and then train for a second.
//
//   import ─────────────── step 1 (compiles) ───────── 2 ─ 3 ─ 4 ─ 5 ─ exit ───────
//                                                 └────── shown ──────┘
#pragma once

#include <utility>

#include "viewer/model/document.h"

namespace vramscope::viewer {

// Returns begin and end of the time range in nanoseconds, with a small margin. The device must have at least
// one allocation.
//
// The range contains the training steps. If there are no steps, or if the recording began in the middle of
// the run, the range is from the device's first to its last allocation or free; if this is at least 80 % of
// the run, it is the whole run. The range is extended to the peak unless it would then be more than twice as
// long.
[[nodiscard]] std::pair<double, double> FirstWindow(const Document& document, const DeviceView& device);

}  // namespace vramscope::viewer
