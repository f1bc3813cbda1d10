// SPDX-License-Identifier: Apache-2.0
// The stretches of a step that ranges of the recording mark: backward, the optimizer's step, zero_grad,
// autocast.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/timeline/training.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Fills Step::backward, optimizer, zero_grad, autocast and optimizer_class.
void AddWindows(const timeline::Step& recorded, Step& step);

// Takes out of Step::passing what the first step has too: the first step is told from its forward on, a later
// one from the end of the one before, so that the batch of the loop's first step seems to be of its setup.
// O(blocks + passing), with a logarithm.
void LeaveOutFirstBatch(Step& step);

// Where the caching allocator gave segments back, each time the first of them: calls of empty_cache(), or
// what an allocation did that found no room. O(segments + changes of the device), with a logarithm.
[[nodiscard]] std::vector<model::EventIndex> SegmentsGivenBack(const model::Run& run,
                                                               model::DeviceIndex device);
// Fills Step::cache_emptied: those of the step that no operator did.
void AddEmptying(Step& step);

// Of Step::backward the first that gives parameters gradients: flex_attention() that is not compiled traces
// its functions with passes of their own, and forces are gradients of energies. 0 where none does, or none is
// known to. O(passes * blocks).
[[nodiscard]] size_t FirstBackward(const Step& step);

// Why a change that is predicted for such steps alone is not; empty: FirstBackward() is 0.
[[nodiscard]] std::string WhyBackwardInForward(const Step& step, std::string_view what);

}  // namespace vramscope::whatif
