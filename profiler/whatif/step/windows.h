// SPDX-License-Identifier: Apache-2.0
// The parts of a step from recorded ranges: backward, the optimizer's step, zero_grad, autocast.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/timeline/training.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Fills Step::backward, optimizer, zero_grad, autocast and optimizer_class.
void AddWindows(const timeline::Step& recorded, Step& step);

// Removes the batch of the loop's first step from Step::passing. That batch looks like part of the setup. O(n
// log n) for n blocks.
void LeaveOutFirstBatch(Step& step);

// The events at which the caching allocator freed segments; one event for segments freed together. The
// allocator frees segments in empty_cache(), or if an allocation finds no room. O(n log n) for n segments and
// changes of the device.
[[nodiscard]] std::vector<model::EventIndex> SegmentsGivenBack(const model::Run& run,
                                                               model::DeviceIndex device);
// Fills Step::cache_emptied with frees of segments outside all operators.
void AddEmptying(Step& step);

// Index in Step::backward of the first pass that gives parameters gradients; 0 if none is known. Earlier
// passes exist in uncompiled flex_attention(), and in models of molecules (forces are gradients of energies).
// O(passes * blocks).
[[nodiscard]] size_t FirstBackward(const Step& step);

// Returns why `what` cannot be predicted for this step, or "" if its first backward pass trains.
[[nodiscard]] std::string WhyBackwardInForward(const Step& step, std::string_view what);

}  // namespace vramscope::whatif
