// SPDX-License-Identifier: Apache-2.0
// What operators convert to float32 themselves, below autograd: transforms (fourier.h), and where(), which
// takes both of its tensors in the wider type:
//
//   where(mask, x, torch.tensor([0.0]))     x in 16 bits    float32: x is copied, and the result is in
//   float32 where(mask, x, 0.0)                                     16 bits: a number has no type to be as
//   wide as
//
// aten/src/ATen/native/TensorCompare.cpp.
#pragma once

#include <vector>

#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Of an operator of forward that begins.
[[nodiscard]] std::vector<const Operand*> WidenedInside(const Step& step, const Op& op,
                                                        const Versions& versions);

}  // namespace vramscope::whatif
