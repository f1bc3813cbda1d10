// SPDX-License-Identifier: Apache-2.0
// The answer of `vramscope fleet` on a terminal.
#pragma once

#include <string>

#include "profiler/cli/frame/terminal.h"
#include "profiler/fleet/job.h"

namespace vramscope::cli {

// At most `top` ranks are listed: those that stand out, then those with the highest peaks.
[[nodiscard]] std::string FleetScreen(const fleet::Job& job, size_t top, const Terminal& terminal);

}  // namespace vramscope::cli
