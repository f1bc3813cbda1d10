// SPDX-License-Identifier: Apache-2.0
// What happens in a step, in the order of its time: operators and nodes begin and end, autograd keeps
// tensors.
#pragma once

#include <vector>

#include "profiler/whatif/step.h"

namespace vramscope::whatif {

enum class What : uint8_t { kNodeBegin, kOpBegin, kSaved, kOpEnd, kNodeEnd };

struct Moment {
  Position at;
  What what;
  uint32_t index;
};

// O(n log n).
[[nodiscard]] std::vector<Moment> MomentsOf(const Step& step);

}  // namespace vramscope::whatif
