// SPDX-License-Identifier: Apache-2.0
// The stretches of a step that ranges of the recording mark: backward, the optimizer's step, zero_grad,
// autocast.
#pragma once

#include "profiler/timeline/training.h"
#include "profiler/whatif/step.h"

namespace vramscope::whatif {

// Fills Step::backward, optimizer, zero_grad, autocast and optimizer_class.
void AddWindows(const timeline::Step& recorded, Step& step);

}  // namespace vramscope::whatif
