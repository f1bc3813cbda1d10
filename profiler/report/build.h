// SPDX-License-Identifier: Apache-2.0
// Builds the answer of a report from an analyzed run.
#pragma once

#include "profiler/classify/analysis.h"
#include "profiler/report/answer.h"
#include "profiler/report/request.h"

namespace vramscope::report {

// Fails if the request names a missing device, process or step; the error lists those that exist. Without
// allocations, the answer has no device.
[[nodiscard]] Result<Answer> BuildAnswer(const classify::Analysis& analysis, const Request& request);

}  // namespace vramscope::report
