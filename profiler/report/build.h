// SPDX-License-Identifier: Apache-2.0
// Builds the answer of a report from an analyzed run.
#pragma once

#include "profiler/classify/analysis.h"
#include "profiler/report/answer.h"
#include "profiler/report/request.h"

namespace vramscope::report {

// Returns the answer to the request. Fails if the request contains a device, process or step that does not
// exist; the error lists the existing ones. If nothing was allocated, the answer has no device.
[[nodiscard]] Result<Answer> BuildAnswer(const classify::Analysis& analysis, const Request& request);

}  // namespace vramscope::report
