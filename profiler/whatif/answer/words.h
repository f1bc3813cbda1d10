// SPDX-License-Identifier: Apache-2.0
// The text of a prediction, as the command and the viewer show it.
#pragma once

#include <string>

#include "profiler/whatif/answer/predict.h"

namespace vramscope::whatif {

// Indented lines for an applied lever: the code to write, its cost in time, and its notes.
[[nodiscard]] std::string LeverLines(const Applied& applied);

}  // namespace vramscope::whatif
