// SPDX-License-Identifier: Apache-2.0
// Finds the problems of single ranks in a job.
#pragma once

#include "profiler/fleet/job.h"

namespace vramscope::fleet {

// Fills in job.findings. The job's ranks, groups, clocks and missing ranks must be filled in. `explain` and
// `explained`: see Compare() (job.h).
void AddFindings(const Explainer& explain, size_t explained, Job& job);

}  // namespace vramscope::fleet
