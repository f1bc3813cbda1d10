// SPDX-License-Identifier: Apache-2.0
// Finds the forward parts of a step: one before each backward pass.
//
// A step has several parts if it trains several networks in turns, or accumulates gradients.
//
//   zero_grad │ forward  backward │ optimizer  zero_grad │ forward  backward │ optimizer       a GAN
//               ───────                                    ───────
#pragma once

#include <string>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Returns the parts in order. A part starts after the previous backward pass or optimizer step, and after the
// zero_grad calls that directly follow. A part ends where its backward pass begins. A step without backward
// has one part with all module calls.
[[nodiscard]] std::vector<Window> ForwardParts(const Step& step);

// Returns the end of the last backward pass or optimizer step that begins before a position; 0 if there is
// none.
[[nodiscard]] Position LastEnd(const std::vector<Window>& backward, const std::vector<Window>& optimizer,
                               Position before);

// Returns an explanation if the backward pass itself creates autograd nodes; "" if it does not. Reasons are
// checkpointing, a torch.autograd.Function that recomputes, or a gradient penalty.
[[nodiscard]] std::string WhyBackwardIsMore(const Step& step);

}  // namespace vramscope::whatif
