// SPDX-License-Identifier: Apache-2.0
// Finds the blocks that belong to each parameter of a step. Levers that remove parameters use it.
#pragma once

#include <functional>
#include <string>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// True if the block was allocated during an optimizer step.
[[nodiscard]] bool MadeByOptimizer(const Step& step, const StepBlock& block);

// Returns why the parameters cannot be distinguished; "" if they can. The parameters of a recurrent network
// share one block, as cuDNN requires.
[[nodiscard]] std::string WhyFlatWeights(const Step& step);

// Returns the position (below 0) at which a block was allocated before the first step; kBefore for other
// blocks.
[[nodiscard]] Position SetUpAt(const Step& step, BlockIndex block);

// True if the block is a parameter, trained or frozen.
[[nodiscard]] bool IsParameter(const Step& step, BlockIndex block);

// Removes the block from the step; its index stays valid.
void Drop(StepBlock& block);

// Returns, for each block, the parameter to which it belongs as optimizer state or temporary; kNone for other
// blocks. State is matched by name. Temporaries are matched by size, in the order of the parameters.
[[nodiscard]] std::vector<BlockIndex> SteppedParameters(const Step& step);

// Restricts the optimizer to the parameters for which `kept` returns true. For all other parameters, removes
// their state, temporaries and entries of Step::trained.
void StepOnly(const std::function<bool(BlockIndex parameter)>& kept, Step& step);

// Removes the optimizer's state and temporaries.
void TakeAwayOptimizer(Scene& scene);

}  // namespace vramscope::whatif
