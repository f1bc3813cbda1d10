// SPDX-License-Identifier: Apache-2.0
// Builds the first sentence of a report.
#pragma once

#include <string>

#include "profiler/report/answer.h"

namespace vramscope::report {

// Returns "step 3, backward" or "the start, before the first step". In a run without steps: "1.20 s after the
// start".
[[nodiscard]] std::string PlaceInTime(const Moment& moment, const Answer& answer);

// Returns the part after the size in "Peak 11.6 GiB at step 3, backward: activations 6.9 GiB (59 %)."
[[nodiscard]] std::string PeakClause(const Answer& answer);

// Returns the origin of the allocation at the peak: "layers.3.attn, SoftmaxBackward0"; "" if unknown. The
// text is as recorded: clean it before printing.
[[nodiscard]] std::string OriginOfPeak(const Peak& peak);

}  // namespace vramscope::report
