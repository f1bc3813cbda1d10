// SPDX-License-Identifier: Apache-2.0
// Programs with nested tensors, torch.nested.nested_tensor(..., layout=torch.jagged): samples of different
// lengths, stored without padding.
//
// Operators are recorded for the tensor object and for its values. The recording does not show which variable
// keeps which memory, or where a sample ends.
#pragma once

#include <string>
#include <string_view>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// True if an operator of the step creates or unpacks a nested tensor. O(operators).
[[nodiscard]] bool HasNestedTensors(const Step& step);

// Returns why this change cannot be predicted for such a step, or "". Changes of parameters, of types of all
// tensors, and of the allocator can be predicted.
[[nodiscard]] std::string WhyNotOfNested(std::string_view lever, std::string_view value);

}  // namespace vramscope::whatif
