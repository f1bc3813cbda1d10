// SPDX-License-Identifier: Apache-2.0
// Checks the invariants of steps and scenes, which must hold whatever levers were applied.
#pragma once

#include <string>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// Returns the first violation, such as "block 12 ends before it begins", or "" if there is none. Checks
// lifetimes, windows and indices. Also checks that each owner precedes the elements that it owns. O(step).
[[nodiscard]] std::string WhyBroken(const Step& step);
// Like WhyBroken above, but for a scene of `step`. Also checks each block's Birth against its positions, and
// the sum of the categories at the peak. O(blocks log blocks).
[[nodiscard]] std::string WhyBroken(const Step& step, const Scene& scene);

}  // namespace vramscope::whatif
