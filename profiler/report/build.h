// SPDX-License-Identifier: Apache-2.0
// Builds the answer of a report from an analysed run.
#pragma once

#include "profiler/classify/analysis.h"
#include "profiler/report/answer.h"
#include "profiler/report/request.h"

namespace vramscope::report {

// Fails, with a sentence that names what there is, when the request names a device, process or step that the
// run does not have. A run without any allocation gives an answer without device.
[[nodiscard]] Result<Answer> BuildAnswer(const classify::Analysis& analysis, const Request& request);

}  // namespace vramscope::report
