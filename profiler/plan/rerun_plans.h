// SPDX-License-Identifier: Apache-2.0
// Plans with a change that only a re-run answers: the change alone, or with checkpoints of all modules.
//
// Why not part of the search (plan.h): a re-run takes seconds, a transformation milliseconds. So only a few
// are run, and only if transformations leave room for more plans.
//
//   amp=bf16 ── fits? ── yes ─► plan
//                  └──── no ──► amp=bf16 checkpoint=all ── fits? ─► plan
#pragma once

#include <vector>

#include "profiler/plan/plan.h"
#include "profiler/plan/reruns.h"

namespace vramscope::plan {

// The memory that is needed with these changes. Verdict::possible is false if a re-run fails or a change is
// refused.
[[nodiscard]] Verdict RerunVerdict(const whatif::Step& step, Reruns& reruns, Changes changes);

// Adds plans to `answer`, which stays in order of rank with at most `request.top` plans. Does nothing if
// `answer` has that many already, or if the program fits as it is.
void AddRerunPlans(const whatif::Step& step, const Request& request, Reruns& reruns, Answer& answer);

}  // namespace vramscope::plan
