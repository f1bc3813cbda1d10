// SPDX-License-Identifier: Apache-2.0
// Finds the blocks of each parameter of a step, for levers that remove parameters.
#pragma once

#include <functional>
#include <string>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// True if the block was allocated during an optimizer step.
[[nodiscard]] bool MadeByOptimizer(const Step& step, const StepBlock& block);

// Returns why parameters cannot be told apart, or "". The parameters of a recurrent network share one block,
// as cuDNN requires.
[[nodiscard]] std::string WhyFlatWeights(const Step& step);

// When a block from before the first step was allocated (below 0); kBefore for other blocks.
[[nodiscard]] Position SetUpAt(const Step& step, BlockIndex block);

// True for a parameter, trained or not.
[[nodiscard]] bool IsParameter(const Step& step, BlockIndex block);

// Removes the block from the step; its index stays valid.
void Drop(StepBlock& block);

// By block: the parameter whose optimizer state or temporary it is; kNone for others. State is matched by
// name. Temporaries are matched by size, in the order of parameters.
[[nodiscard]] std::vector<BlockIndex> SteppedParameters(const Step& step);

// Restricts the optimizer to parameters for which `kept` returns true. Removes state, temporaries and entries
// of Step::trained of the others.
void StepOnly(const std::function<bool(BlockIndex parameter)>& kept, Step& step);

// Removes the optimizer's state and temporaries.
void TakeAwayOptimizer(Scene& scene);

}  // namespace vramscope::whatif
