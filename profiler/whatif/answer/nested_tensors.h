// SPDX-License-Identifier: Apache-2.0
// Programs that compute with nested tensors, torch.nested.nested_tensor(..., layout=torch.jagged): samples of
// several lengths, one behind the other, without padding.
//
// Why: such a tensor is a Python object around its values and offsets. Operators are recorded twice, of the
// object and of its values, autograd keeps the values behind the object's back, and what a variable holds is
// the object, so that who keeps what and where samples lie does not show.
#pragma once

#include <string>
#include <string_view>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Whether an operator of the step makes or takes apart such a tensor. O(operators).
[[nodiscard]] bool HasNestedTensors(const Step& step);

// Why this change cannot be predicted for such a step; empty: it can, because it changes only what is done
// with parameters, types that all tensors have, or the allocator.
[[nodiscard]] std::string WhyNotOfNested(std::string_view lever, std::string_view value);

}  // namespace vramscope::whatif
