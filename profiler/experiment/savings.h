// SPDX-License-Identifier: Apache-2.0
// The savings that a report suggests: the usual changes to a training program, for one recorded step.
#pragma once

#include <optional>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/report/savings.h"

namespace vramscope::experiment {

// Nothing without a GPU, a deep step, or settings that can be modeled. Adds at most about 0.3 s to reading
// the trace: for very large steps, fewer changes are predicted. `path`: the trace, for its variants; "" =
// without variants.
[[nodiscard]] std::optional<report::Savings> FindSavings(const classify::Analysis& analysis,
                                                         model::DeviceIndex device, const std::string& path);

}  // namespace vramscope::experiment
