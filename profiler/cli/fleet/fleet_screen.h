// SPDX-License-Identifier: Apache-2.0
// Formats the answer of `vramscope fleet` for a terminal.
#pragma once

#include <string>

#include "profiler/cli/frame/terminal.h"
#include "profiler/fleet/job.h"

namespace vramscope::cli {

// Lists at most `top` ranks (0 = all): first the outliers, then the ranks with the highest peaks.
[[nodiscard]] std::string FleetScreen(const fleet::Job& job, size_t top, const Terminal& terminal);

}  // namespace vramscope::cli
