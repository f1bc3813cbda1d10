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

// Nothing where the run lacks what an answer needs: a GPU, a deep step, settings that can be modeled. Steps
// with very many blocks are asked fewer questions, so that a report does not wait: at most some 0.3 s beyond
// reading the trace up to that step. `path`: of the trace, whose kept re-runs are included; "" = none are
// looked for.
[[nodiscard]] std::optional<report::Savings> FindSavings(const classify::Analysis& analysis,
                                                         model::DeviceIndex device, const std::string& path);

}  // namespace vramscope::experiment
