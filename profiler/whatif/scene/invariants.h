// SPDX-License-Identifier: Apache-2.0
// Invariants of every step and scene, whichever levers were applied. A lever that breaks one would return a
// wrong number, and nobody would notice.
#pragma once

#include <string>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// Returns the first violation, "block 12 ends before it begins", or "". Lives begin before they end, windows
// are in order, indices point into their lists, owners precede what they own. O(step).
[[nodiscard]] std::string WhyBroken(const Step& step);
// Like WhyBroken above, for a scene of that step. Also checks that births match positions, and that
// categories add up at the peak. O(blocks log blocks).
[[nodiscard]] std::string WhyBroken(const Step& step, const Scene& scene);

}  // namespace vramscope::whatif
