// SPDX-License-Identifier: Apache-2.0
// The parts of a step that run forward: one before each backward pass.
//
// Why parts: networks that are trained in turns run forward and backward several times before a step is over,
// and autocast, what a loop keeps and what it repeats begin anew with each of them.
//
//   zero_grad │ forward  backward │ optimizer  zero_grad │ forward  backward │ optimizer       a GAN
//               ───────                                    ───────
#pragma once

#include <string>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// In order, each to the begin of its backward pass: from the last pass or optimizer step before it on,
// without what zero_grad does there. Of a program that only runs its model forward one, which is all of its
// calls.
[[nodiscard]] std::vector<Window> ForwardParts(const Step& step);

// The end of the last backward pass or optimizer step that begins before a position; 0 where none does.
[[nodiscard]] Position LastEnd(const std::vector<Window>& backward, const std::vector<Window>& optimizer,
                               Position before);

// Why backward is not that of the recorded forward alone, as one sentence: it makes nodes of its own, of a
// checkpoint, of a torch.autograd.Function that computes again what it did not keep, or of a penalty on
// gradients. "" when it makes none.
[[nodiscard]] std::string WhyBackwardIsMore(const Step& step);

}  // namespace vramscope::whatif
