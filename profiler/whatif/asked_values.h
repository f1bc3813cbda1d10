// SPDX-License-Identifier: Apache-2.0
// Programs that go on by what they have computed: `if x.min() > 0:` runs one way or another by the values of
// a tensor, which a recording does not have.
#pragma once

#include <string>

#include "profiler/whatif/step.h"

namespace vramscope::whatif {

// Why what the program does with other lengths is not known: a module of forward asks whether something is
// true that was computed from floating-point numbers. A mask, which is whole numbers, does not count. ""
// where none does. O(operators).
[[nodiscard]] std::string WhyGoneOnByValues(const Step& step);

}  // namespace vramscope::whatif
