// SPDX-License-Identifier: Apache-2.0
// Finds the problems of single ranks in a job: failures, memory that differs from other ranks, growth, and
// missing files (Finding::Kind in job.h).
#pragma once

#include "profiler/fleet/job.h"

namespace vramscope::fleet {

// Sets job.findings. The job's ranks, groups, clocks and missing ranks must already be set. Compare() in
// job.h describes `explain` and `explained`.
void AddFindings(const Explainer& explain, size_t explained, Job& job);

}  // namespace vramscope::fleet
