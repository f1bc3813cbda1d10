// SPDX-License-Identifier: Apache-2.0
// The sentences about a job that both the command and the HTML page show.
#pragma once

#include <string>

#include "profiler/fleet/job.h"

namespace vramscope::fleet {

// "8 ranks on 2 hosts: peaks 8.0 to 11.2 GiB, spread 39.5 % of the median 8.0 GiB; 3 ranks stand out."
[[nodiscard]] std::string Headline(const Job& job);

// "rank 2 runs out of memory first: in 31 steps (12 min 20 s)."; "" if no rank is predicted to run out of
// memory.
[[nodiscard]] std::string FirstOutText(const Job& job);

}  // namespace vramscope::fleet
