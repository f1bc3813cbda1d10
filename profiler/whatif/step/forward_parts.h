// SPDX-License-Identifier: Apache-2.0
// The forward parts of a step: one before each backward pass.
//
// Networks trained in turns, and gradient accumulation, have several parts per step.
//
//   zero_grad │ forward  backward │ optimizer  zero_grad │ forward  backward │ optimizer       a GAN
//               ───────                                    ───────
#pragma once

#include <string>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// The parts, in order. Each part ends where its backward pass begins. A part starts after the previous
// backward pass or optimizer step, and after a zero_grad that follows. Without backward: one part with all
// calls.
[[nodiscard]] std::vector<Window> ForwardParts(const Step& step);

// The end of the last backward pass or optimizer step that begins before a position; 0 if none.
[[nodiscard]] Position LastEnd(const std::vector<Window>& backward, const std::vector<Window>& optimizer,
                               Position before);

// One sentence if backward creates autograd nodes of its own, else "". Reasons: a checkpoint, a
// torch.autograd.Function that recomputes, a gradient penalty.
[[nodiscard]] std::string WhyBackwardIsMore(const Step& step);

}  // namespace vramscope::whatif
