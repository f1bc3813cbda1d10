// SPDX-License-Identifier: Apache-2.0
// The forward parts of a step: one before each backward pass.
//
// Why parts: networks that are trained in turns run forward and backward several times in one step. Gradient
// accumulation, for example, repeats the forward parts and backward passes before each optimizer step.
//
//   zero_grad │ forward  backward │ optimizer  zero_grad │ forward  backward │ optimizer       a GAN
//               ───────                                    ───────
#pragma once

#include <string>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// The parts, in order. Each one ends where its backward pass begins. It starts at the end of the previous
// backward pass or optimizer step, and leaves out zero_grad. If the program only runs its model forward,
// there is one part with all of its calls.
[[nodiscard]] std::vector<Window> ForwardParts(const Step& step);

// The end of the last backward pass or optimizer step that begins before a position; 0 if there is none.
[[nodiscard]] Position LastEnd(const std::vector<Window>& backward, const std::vector<Window>& optimizer,
                               Position before);

// Returns one sentence if backward creates autograd nodes of its own, else "". It does so for a checkpoint,
// for a torch.autograd.Function that recomputes what it did not save, or for a gradient penalty.
[[nodiscard]] std::string WhyBackwardIsMore(const Step& step);

}  // namespace vramscope::whatif
