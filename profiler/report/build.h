// SPDX-License-Identifier: Apache-2.0
// Builds the answer of a report from an analyzed run.
#pragma once

#include "profiler/classify/analysis.h"
#include "profiler/report/answer.h"
#include "profiler/report/request.h"

namespace vramscope::report {

// Fails if the request names a device, process or step that the run does not have; the error lists those that
// exist. A run without allocations gives an answer without a device.
[[nodiscard]] Result<Answer> BuildAnswer(const classify::Analysis& analysis, const Request& request);

}  // namespace vramscope::report
