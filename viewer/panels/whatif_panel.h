// SPDX-License-Identifier: Apache-2.0
// The parts of the what-if panel.
#pragma once

#include "viewer/panels/app.h"

namespace vramscope::viewer {

// Switches and sliders, one row for each lever; they set app.whatif.question.
void ShowWhatIfControls(App& app, const WhatIfSubject& subject);
// Before and after: figures, the step over time, categories at the peak, the code to write.
void ShowWhatIfAnswer(App& app, const WhatIfSubject& subject);

// The code to write: each change with its notes and its time; refused changes.
void ShowChanges(App& app, const WhatIfAnswer& answer);
// Shows why a change whose re-run was not kept has no answer, and the command that computes one.
void ShowNotKept(App& app, const KeptReruns::Unanswered& not_kept);

// A size or a GPU, and the plans with which the step fits; above the answer.
void ShowFit(App& app, const WhatIfSubject& subject);

}  // namespace vramscope::viewer
