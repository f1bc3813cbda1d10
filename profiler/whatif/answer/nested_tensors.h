// SPDX-License-Identifier: Apache-2.0
// Detects programs with nested tensors, and refuses changes that cannot be predicted for these programs. A
// nested tensor, torch.nested.nested_tensor(..., layout=torch.jagged), stores samples of different lengths
// without padding.
//
// Operators are recorded for the nested tensor and for the tensor of its values. The recording does not show
// which variable keeps which memory, or where a sample ends.
#pragma once

#include <string>
#include <string_view>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// True if an operator of the step creates or unpacks a nested tensor. O(operators).
[[nodiscard]] bool HasNestedTensors(const Step& step);

// Returns the reason why this change cannot be predicted for a step with nested tensors, or "" if it can be
// predicted. Changes of parameters, of the type of all tensors, and of the allocator can be predicted.
[[nodiscard]] std::string WhyNotOfNested(std::string_view lever, std::string_view value);

}  // namespace vramscope::whatif
