// SPDX-License-Identifier: Apache-2.0
// What holds of every step and scene, whatever levers made of it: a lever that breaks it would answer a wrong
// number, and nobody would see it.
#pragma once

#include <string>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// What of it cannot be: "block 12 ends before it begins"; "" when all is as it must be. Lives begin before
// they end, windows lie in order, indices point into their lists, owners come before what they own. O(step).
[[nodiscard]] std::string WhyBroken(const Step& step);
// The same of a scene of that step: also births where they belong, and that categories add up at the peak.
// O(blocks), with a logarithm.
[[nodiscard]] std::string WhyBroken(const Step& step, const Scene& scene);

}  // namespace vramscope::whatif
