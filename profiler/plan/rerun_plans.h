// SPDX-License-Identifier: Apache-2.0
// Finds plans with a change that only a re-run can predict (docs/glossary.md). Each plan has this change
// alone, or together with checkpoints of all modules.
//
// A re-run takes seconds. Therefore only a few changes are tried, and only if transformations gave fewer
// plans than requested.
//
//   amp=bf16 ── fits? ── yes ─► plan
//                  └──── no ──► amp=bf16 checkpoint=all ── fits? ─► plan
#pragma once

#include <vector>

#include "profiler/plan/plan.h"
#include "profiler/plan/reruns.h"

namespace vramscope::plan {

// Returns the memory that the step needs with these changes. Verdict::possible is false if a re-run fails or
// if a change cannot be applied.
[[nodiscard]] Verdict RerunVerdict(const whatif::Step& step, Reruns& reruns, Changes changes);

// Adds plans to `answer` and sorts all plans by rank, until there are `request.top` plans. Does nothing if
// there are that many already, or if the unchanged program fits.
void AddRerunPlans(const whatif::Step& step, const Request& request, Reruns& reruns, Answer& answer);

}  // namespace vramscope::plan
