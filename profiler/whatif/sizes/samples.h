// SPDX-License-Identifier: Apache-2.0
// Which tensors of a step are the batch, and how many samples they have: the first dimension that most of
// them share.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

struct Samples {
  int64_t count = 0;                                  // 0: no input was seen
  std::vector<std::pair<uint32_t, uint64_t>> inputs;  // block, and elements from one sample to the next
};

// O(operands).
[[nodiscard]] Samples FindSamples(const Step& step);

}  // namespace vramscope::whatif
