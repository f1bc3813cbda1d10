// SPDX-License-Identifier: Apache-2.0
// What is wrong with single ranks of a job.
#pragma once

#include "profiler/fleet/job.h"

namespace vramscope::fleet {

// Adds the findings to a job that has everything else.
void AddFindings(const Explainer& explain, size_t explained, Job& job);

}  // namespace vramscope::fleet
