// SPDX-License-Identifier: Apache-2.0
// Formats a prediction as text, for the command and for the viewer.
#pragma once

#include <string>

#include "profiler/whatif/answer/predict.h"

namespace vramscope::whatif {

// Returns indented lines for one lever: the code to write, the cost in time, and the notes.
[[nodiscard]] std::string LeverLines(const Applied& applied);

}  // namespace vramscope::whatif
