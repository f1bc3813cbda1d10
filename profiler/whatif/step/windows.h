// SPDX-License-Identifier: Apache-2.0
// Finds the parts of a step (backward, optimizer, zero_grad, autocast) from the recorded ranges, and where
// the step emptied the allocator's cache.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/timeline/training.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Fills the fields backward, optimizer, zero_grad, autocast and optimizer_class of `step`.
void AddWindows(const timeline::Step& recorded, Step& step);

// Removes the batch of the loop's first step from Step::passing, where it was recorded like a block of the
// setup. O(n log n) for n blocks.
void LeaveOutFirstBatch(Step& step);

// Returns the events at which the caching allocator freed segments; only one event for segments that were
// freed together. The allocator frees segments in empty_cache(), or if an allocation finds no room. O(n log
// n) for n segments, allocations and frees of the device.
[[nodiscard]] std::vector<model::EventIndex> SegmentsGivenBack(const model::Run& run,
                                                               model::DeviceIndex device);
// Fills Step::cache_emptied with the frees of segments that happened outside all operators.
void AddEmptying(Step& step);

// Returns the index in Step::backward of the first backward pass that gives parameters a gradient; 0 if no
// such pass is known. Backward passes without gradients of parameters occur in uncompiled flex_attention(),
// and in models of molecules, where forces are gradients of energies. O(passes * blocks).
[[nodiscard]] size_t FirstBackward(const Step& step);

// Returns why `what` cannot be predicted for this step; "" if the step's first backward pass gives parameters
// a gradient.
[[nodiscard]] std::string WhyBackwardInForward(const Step& step, std::string_view what);

}  // namespace vramscope::whatif
