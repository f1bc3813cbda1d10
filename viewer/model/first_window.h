// SPDX-License-Identifier: Apache-2.0
// The stretch of time that a file opens with: its training steps.
//
// A program may import and compile for half a minute, and then train for a second.
//
//   import ─────────────── step 1 (compiles) ───────── 2 ─ 3 ─ 4 ─ 5 ─ exit ───────
//                                                 └────── shown ──────┘
#pragma once

#include <utility>

#include "viewer/model/document.h"

namespace vramscope::viewer {

// Nanoseconds from begin to end, with a small margin. Includes the peak, unless that would more than double
// the stretch. Without steps, or if recording began in mid-run: from the device's first to last allocation.
// The whole run, if this stretch is at least 80 % of it. The device must have allocated something.
[[nodiscard]] std::pair<double, double> FirstWindow(const Document& document, const DeviceView& device);

}  // namespace vramscope::viewer
