// SPDX-License-Identifier: Apache-2.0
// Draws the parts of the what-if panel.
#pragma once

#include "viewer/panels/app.h"

namespace vramscope::viewer {

// Draws the switches and sliders, one row per change, and sets app.whatif.question.
void ShowWhatIfControls(App& app, const WhatIfSubject& subject);
// Draws the memory before and after the changes: figures, the step over time, categories at the peak, code.
void ShowWhatIfAnswer(App& app, const WhatIfSubject& subject);

// Draws the code for each change, with notes and times, and the refused changes.
void ShowChanges(App& app, const WhatIfAnswer& answer);
// Draws why there is no answer if the file does not contain the re-run, and the command that makes the
// re-run.
void ShowNotKept(App& app, const KeptReruns::Unanswered& not_kept);

// Draws the input for a memory size or a GPU, and the plans with which the step fits.
void ShowFit(App& app, const WhatIfSubject& subject);

}  // namespace vramscope::viewer
