// SPDX-License-Identifier: Apache-2.0
// What a program made for a batch in its first step and keeps, as functools.lru_cache does with encodings of
// positions that are [samples, channels, rows, columns].
//
// Why it matters: a recorded step shows no operator that makes them, and of those that it does not use
// nothing but their bytes: neither the samples nor the type.
#pragma once

#include <string>

#include "profiler/whatif/sizes/batch_axis.h"

namespace vramscope::whatif {

// Why another batch, or another type, cannot be told of what is kept for samples, as one sentence; "" when
// the step works on nothing of that kind. O(operands).
[[nodiscard]] std::string WhyKeptForSamples(const Step& step, const BatchAxis& axis);

}  // namespace vramscope::whatif
