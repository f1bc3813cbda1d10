// SPDX-License-Identifier: Apache-2.0
// Finds the blocks that belong to each parameter of a step, for levers that remove parameters.
#pragma once

#include <functional>
#include <string>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// True if the block was allocated during an optimizer step.
[[nodiscard]] bool MadeByOptimizer(const Step& step, const StepBlock& block);

// Returns why parameters cannot be told apart, or "" if they can. Those of a recurrent network share one
// block, as cuDNN requires.
[[nodiscard]] std::string WhyFlatWeights(const Step& step);

// When a block from before the first step was allocated, as a position below 0. kBefore for other blocks.
[[nodiscard]] Position SetUpAt(const Step& step, BlockIndex block);

// True if it is a parameter of the program, trained or not.
[[nodiscard]] bool IsParameter(const Step& step, BlockIndex block);

// Removes the block from the step; its index stays valid.
void Drop(StepBlock& block);

// For each block of the step: the parameter whose optimizer state it holds, or for which the optimizer step
// allocated it. kNone for other blocks. State is matched by name, temporaries by size: each block of a given
// size belongs to the next parameter of that size.
[[nodiscard]] std::vector<BlockIndex> SteppedParameters(const Step& step);

// Restricts the optimizer to parameters for which `kept` returns true. State and temporaries of the others
// are removed, and Step::trained no longer lists them.
void StepOnly(const std::function<bool(BlockIndex parameter)>& kept, Step& step);

// Removes the optimizer's blocks from the scene: its state, and what its steps allocate.
void TakeAwayOptimizer(Scene& scene);

}  // namespace vramscope::whatif
