// SPDX-License-Identifier: Apache-2.0
// Tensors that a program asks gradients of though nothing before them is trained:
// output.requires_grad_(True), as enable_input_require_grads() of transformers does with what embeddings
// return, and with it gradient_checkpointing_enable().
//
// Why ahead of levers that freeze: what they leave of autograd begins at what is trained, and at these
// tensors.
//
//   frozen      table ─ h ─ norm ─ dropout ─ blocks      nothing in front of the blocks is kept
//   asked       table ─ h ─ norm ─ dropout ─ blocks      h is a leaf: norm and dropout keep what they need
//   for its
//                       ▲                                gradient, and it and its gradient stay
#pragma once

#include <string_view>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Of a result in Operand::flags, beside those of the trace: the program asks its gradient.
inline constexpr uint8_t kAsksForGradient = 1 << 7;

// The step with what the modules return marked so. Fails with a sentence when one of the patterns, with
// commas between them, names no module that computes something with gradients.
[[nodiscard]] Result<Step> AskingForGradients(const Step& step, std::string_view modules);

// When autograd's graph goes, and with it such tensors and their gradients: where the next step gives the
// loss another value, which is where this one frees the number that the step before left.
[[nodiscard]] Position GraphGoes(const Step& step);

}  // namespace vramscope::whatif
