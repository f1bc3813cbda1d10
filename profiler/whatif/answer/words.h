// SPDX-License-Identifier: Apache-2.0
// The words of a prediction, as the command and the viewer show them.
#pragma once

#include <string>

#include "profiler/whatif/answer/predict.h"

namespace vramscope::whatif {

// What to write for a lever, what it costs, and its notes; indented.
[[nodiscard]] std::string LeverLines(const Applied& applied);

}  // namespace vramscope::whatif
