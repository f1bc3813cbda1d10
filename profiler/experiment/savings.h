// SPDX-License-Identifier: Apache-2.0
// Computes the savings that a report suggests: the effect of common changes to a training program on one
// recorded step.
#pragma once

#include <optional>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/report/savings.h"

namespace vramscope::experiment {

// Returns nothing if the run has no GPU or no deep step, or if the allocator's settings cannot be modeled.
// Takes at most about 0.3 s, because fewer changes are predicted for very large steps. `path` is the path of
// the trace, for reading its stored variants; "" = without variants.
[[nodiscard]] std::optional<report::Savings> FindSavings(const classify::Analysis& analysis,
                                                         model::DeviceIndex device, const std::string& path);

}  // namespace vramscope::experiment
