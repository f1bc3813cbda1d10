// SPDX-License-Identifier: Apache-2.0
// Programs that go on by what they have computed: `if x.min() > 0:` runs one way or another by the values of
// a tensor, which a recording does not have.
#pragma once

#include <string>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Why what the program does with other lengths is not known: a module of forward asks whether something is
// true (is_nonzero) that was computed, in at most six steps, from tensors that require gradients. A mask does
// not. "" where none asks. O(operators).
[[nodiscard]] std::string WhyGoneOnByValues(const Step& step);

}  // namespace vramscope::whatif
