// SPDX-License-Identifier: Apache-2.0
// Finds the problems of single ranks in a job.
#pragma once

#include "profiler/fleet/job.h"

namespace vramscope::fleet {

// Adds the findings to a job whose other members are complete.
void AddFindings(const Explainer& explain, size_t explained, Job& job);

}  // namespace vramscope::fleet
