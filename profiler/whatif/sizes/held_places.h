// SPDX-License-Identifier: Apache-2.0
// Sequences in which some tokens are no words but places for something else, as what is seen of a picture.
//
//   ids       [8, 104] ─ embedding ─ [8, 104, 320] ─┬─ where(ids == image_token) ─ [8, 104, 320]
//   pictures  [8, 72, 320] ─── gather ─ [8, 104, 320] ┘
//
// Why: of half as many words there are as many such places, and how many of a sample's tokens are words the
// recording tells nowhere: the ids are values.
#pragma once

#include <string>

#include "profiler/whatif/sizes/batch_axis.h"

namespace vramscope::whatif {

// Why it cannot be told what another length is, as one sentence; "" when no tokens are places for others.
// `axis` is the step's FollowSequence. O(operands).
[[nodiscard]] std::string WhyPlacesAreHeld(const Step& step, const BatchAxis& axis);

}  // namespace vramscope::whatif
