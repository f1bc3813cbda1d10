// SPDX-License-Identifier: Apache-2.0
// The stretch of time that a file opens with: its training steps.
//
// Why not the whole run: a program imports and compiles for half a minute and then trains for a second. In
// a picture of the whole run, the steps would be a thin line at the right edge.
//
//   import ─────────────── step 1 (compiles) ───────── 2 ─ 3 ─ 4 ─ 5 ─ exit ───────
//                                                 └────── shown ──────┘
#pragma once

#include <utility>

#include "viewer/model/document.h"

namespace vramscope::viewer {

// Nanoseconds from begin to end, with a small margin. Includes the peak too, unless that would more than
// double the stretch. Without steps, or if recording began in the middle of a run: from the first to the last
// allocation of the device, or the whole run, if this stretch is at least 80 % of the run. The device must
// have allocated something.
[[nodiscard]] std::pair<double, double> FirstWindow(const Document& document, const DeviceView& device);

}  // namespace vramscope::viewer
