// SPDX-License-Identifier: Apache-2.0
// What operators of a step do with memory that depends on what is trained: for freeze.h.
#pragma once

#include "profiler/whatif/step.h"

namespace vramscope::whatif {

// Whether the operator of backward looks at something of forward in another shape, for another operator of
// its node: BmmBackward0 transposes a factor for the gradient of the other one alone.
[[nodiscard]] bool ViewsWhatItKeeps(const Step& step, const Op& op);

// Whether it is told which of its results to compute, the first, the gradient of the input, among them
// (output_mask in aten/src/ATen/native/native_functions.yaml).
[[nodiscard]] bool TakesMask(const Step& step, const Op& op);

// The operator of backward that made the block and computes all gradients at once, whichever are asked for;
// kNone: another one did.
[[nodiscard]] uint32_t GradientOfAll(const Step& step, uint32_t block);

// Whether it is a copy that an operator which changes its operand makes for its node before (original_self in
// tools/autograd/gen_variable_type.py), and only for that.
[[nodiscard]] bool IsCopyForItsNode(const Step& step, const Saved& saved);

}  // namespace vramscope::whatif
