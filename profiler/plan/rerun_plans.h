// SPDX-License-Identifier: Apache-2.0
// Plans that need PyTorch: a change that only a re-run answers, alone or with all checkpoints on top of it.
//
// Why apart from the search (plan.h): a re-run takes seconds, a transformation milliseconds. So few are made,
// and only where transformations leave room for more plans.
//
//   amp=bf16 ── fits? ── yes ─► plan
//                  └──── no ──► amp=bf16 checkpoint=all ── fits? ─► plan
#pragma once

#include <vector>

#include "profiler/plan/plan.h"
#include "profiler/plan/reruns.h"

namespace vramscope::plan {

// What is needed with these changes; not possible where a re-run fails or a change is refused.
[[nodiscard]] Verdict RerunVerdict(const whatif::Step& step, Reruns& reruns, Changes changes);

// Adds to `answer`, whose plans stay in order of rank and at most `request.top`. Does nothing where so many
// are there already, or where it fits as it is.
void AddRerunPlans(const whatif::Step& step, const Request& request, Reruns& reruns, Answer& answer);

}  // namespace vramscope::plan
