// SPDX-License-Identifier: Apache-2.0
// The first sentence of an answer.
#pragma once

#include <string>

#include "profiler/report/answer.h"

namespace vramscope::report {

// "step 3, backward"; "the start, before the first step"; "1.20 s after the start" in a run without steps.
[[nodiscard]] std::string PlaceInTime(const Moment& moment, const Answer& answer);

// The part after the size in "Peak 11.6 GiB at step 3, backward: activations 6.9 GiB (59 %)."
[[nodiscard]] std::string PeakClause(const Answer& answer);

// Origin of the peak's allocation: "layers.3.attn, SoftmaxBackward0"; "" if unknown. As recorded, not
// sanitized.
[[nodiscard]] std::string OriginOfPeak(const Peak& peak);

}  // namespace vramscope::report
