// SPDX-License-Identifier: Apache-2.0
// Which blocks belong to which parameter of a step, for levers that take parameters away.
#pragma once

#include <functional>
#include <string>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// Whether the block was made while an optimizer stepped.
[[nodiscard]] bool MadeByOptimizer(const Step& step, const StepBlock& block);

// Why parameters cannot be told apart: those of a recurrent network lie in one block, as cuDNN wants them.
// Empty: the step has none.
[[nodiscard]] std::string WhyFlatWeights(const Step& step);

// When the block was made, before 0, of one that was there before the first step; else kBefore.
[[nodiscard]] Position SetUpAt(const Step& step, uint32_t block);

// Whether it is a parameter of the program's, trained or not.
[[nodiscard]] bool IsParameter(const Step& step, uint32_t block);

// Takes away the block from the step, which keeps its number.
void Drop(StepBlock& block);

// By block: the parameter that it is state of, or that it was made for while the optimizer stepped; kNone for
// others. State is told by its name, temporaries by their size: of blocks of one size each is for the next
// parameter of that size.
[[nodiscard]] std::vector<uint32_t> SteppedParameters(const Step& step);

// The optimizer steps those parameters alone that `kept` says: state and temporaries of the others go, and
// they leave Step::trained.
void StepOnly(const std::function<bool(uint32_t parameter)>& kept, Step& step);

// The scene without what its optimizer has: its state, and what it allocates while it steps.
void TakeAwayOptimizer(Scene& scene);

}  // namespace vramscope::whatif
