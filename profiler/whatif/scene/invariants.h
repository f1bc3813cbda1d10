// SPDX-License-Identifier: Apache-2.0
// Invariants of every step and scene, whichever levers were applied.
#pragma once

#include <string>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// Returns the first violation, "block 12 ends before it begins", or "". Checks lives, windows, indices, and
// that owners precede what they own. O(step).
[[nodiscard]] std::string WhyBroken(const Step& step);
// Like WhyBroken above, for a scene of that step. Also checks births against positions, and the sum of
// categories at the peak. O(blocks log blocks).
[[nodiscard]] std::string WhyBroken(const Step& step, const Scene& scene);

}  // namespace vramscope::whatif
