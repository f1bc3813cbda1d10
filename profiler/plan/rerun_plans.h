// SPDX-License-Identifier: Apache-2.0
// Plans with a change that only a re-run answers: the change alone, or with checkpoints of all modules.
//
// A re-run takes seconds, so only a few are run, if transformations leave room for more plans.
//
//   amp=bf16 ── fits? ── yes ─► plan
//                  └──── no ──► amp=bf16 checkpoint=all ── fits? ─► plan
#pragma once

#include <vector>

#include "profiler/plan/plan.h"
#include "profiler/plan/reruns.h"

namespace vramscope::plan {

// The memory needed with these changes. Verdict::possible is false if a re-run fails or a change is refused.
[[nodiscard]] Verdict RerunVerdict(const whatif::Step& step, Reruns& reruns, Changes changes);

// Adds plans to `answer` in order of rank, at most `request.top` in all. Does nothing if there is no room, or
// if the program fits unchanged.
void AddRerunPlans(const whatif::Step& step, const Request& request, Reruns& reruns, Answer& answer);

}  // namespace vramscope::plan
