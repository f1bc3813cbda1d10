// SPDX-License-Identifier: Apache-2.0
// The parts of the what-if panel.
#pragma once

#include "viewer/panels/app.h"

namespace vramscope::viewer {

// Switches and sliders, one row per lever; sets app.whatif.question.
void ShowWhatIfControls(App& app, const WhatIfSubject& subject);
// Before and after: figures, the step over time, categories at the peak, code.
void ShowWhatIfAnswer(App& app, const WhatIfSubject& subject);

// The code to write: changes with notes and times; refused changes.
void ShowChanges(App& app, const WhatIfAnswer& answer);
// Why a re-run that was not kept has no answer, and the command for it.
void ShowNotKept(App& app, const KeptReruns::Unanswered& not_kept);

// A size or a GPU, and plans with which the step fits.
void ShowFit(App& app, const WhatIfSubject& subject);

}  // namespace vramscope::viewer
