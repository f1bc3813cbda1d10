// SPDX-License-Identifier: Apache-2.0
// Samples of a batch that have unequally many things, as pictures with boxes do:
//
//   cat([boxes of a picture, ...])    10 + 8 + 6 + 4 = 28 rows     and [28, 28] where a loss compares them
//   all
//
// How many there are of another batch is nowhere to be seen.
#pragma once

#include <string>

#include "profiler/whatif/sizes/batch_axis.h"

namespace vramscope::whatif {

// Why another batch cannot be predicted: what is made of these is more than a hundredth of what the step has
// at once. Else it is taken to have as many in each sample as this one on average.
[[nodiscard]] std::string WhyUneven(const Step& step, const BatchAxis& axis);

}  // namespace vramscope::whatif
