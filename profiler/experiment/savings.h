// SPDX-License-Identifier: Apache-2.0
// The savings that a report suggests: the usual changes to a training program, for one recorded step.
//
// Why a fixed list and not a search: people make each of these changes in a minute, and each fits on one
// line.
#pragma once

#include <optional>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/report/savings.h"

namespace vramscope::experiment {

// Nothing if the run lacks what predictions need: a GPU, a deep step, settings that can be modeled. For steps
// with very many blocks, fewer changes are predicted, so that a report takes at most some 0.3 s longer than
// reading the trace up to that step. `path`: of the trace; its kept re-runs are included. "" = without
// re-runs.
[[nodiscard]] std::optional<report::Savings> FindSavings(const classify::Analysis& analysis,
                                                         model::DeviceIndex device, const std::string& path);

}  // namespace vramscope::experiment
