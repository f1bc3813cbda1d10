// SPDX-License-Identifier: Apache-2.0
// Programs that compute with nested tensors, torch.nested.nested_tensor(..., layout=torch.jagged): samples of
// different lengths, stored one after the other without padding.
//
// Why: a nested tensor is a Python object around a values tensor and an offsets tensor. Each operator is
// recorded twice: once for the object, once for its values. Autograd saves the values, but a variable holds
// the object. So the recording does not show which variable keeps which memory, or where one sample ends.
#pragma once

#include <string>
#include <string_view>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// True if an operator of the step creates or unpacks a nested tensor. O(operators).
[[nodiscard]] bool HasNestedTensors(const Step& step);

// Returns why this change cannot be predicted for such a step, or "" if it can. Changes can be predicted if
// they only affect parameters, types that all tensors have, or the allocator.
[[nodiscard]] std::string WhyNotOfNested(std::string_view lever, std::string_view value);

}  // namespace vramscope::whatif
