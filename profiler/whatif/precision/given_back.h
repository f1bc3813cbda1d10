// SPDX-License-Identifier: Apache-2.0
// What autocast converts for an operator, and when an operator itself gives back the type of what it is
// given.
//
//   kind = x.dtype; x = mask(x.float()); y = softmax(x, dtype=kind); product(y)
//
// Why inferred: in float32 `kind` is recorded as torch.float32, as if the program had named it.
#pragma once

#include <span>
#include <vector>

#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Which of an operator's operands is converted when: arguments from the last to the first, as C++ leaves the
// order to the compiler and GCC does that; those in a list, as einsum's, in their order.
[[nodiscard]] std::vector<size_t> CastOrder(std::span<const Operand> inputs);

// Whether `op`, a softmax of forward that was told a type, returns that which the program widened what it is
// given from: who names float32 there need not ask for it before, or converts what it returns. Looks at the
// operators up to the next one that is given its result.
[[nodiscard]] bool GivesBack(const Step& step, const Versions& versions, uint32_t op);

}  // namespace vramscope::whatif
