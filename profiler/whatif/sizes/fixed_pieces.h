// SPDX-License-Identifier: Apache-2.0
// Programs that put samples through a part of the model in pieces of so many rows, wherever one sample ends.
//
//   films [4, 5, 3, 32, 32] ─ view ─ [20, 3, 32, 32] ─ split(8) ─┬─ [8, 3, 32, 32] ─ layers ─┐
//                                     5 rows of each sample      ├─ [8, 3, 32, 32] ─ layers ─┤ cat
//                                                                └─ [4, 3, 32, 32] ─ layers ─┘
//
// Why told apart: of twice as many samples there are five pieces of 8 rows, and of one sample one of 5. What
// a piece is made of is neither larger then nor there for each sample. Frames of a film are encoded so
// (diffusers' WanAnimateTransformer3DModel), or decoded.
#pragma once

#include <cstdint>

#include "profiler/whatif/sizes/batch_axis.h"

namespace vramscope::whatif {

// How many rows of the samples a piece has that the program cuts them into by a number of its own; 0: it cuts
// none so. Pieces of whole samples that are all alike are none: they may be a share of the batch.
// O(operands).
[[nodiscard]] int64_t RowsOfFixedPieces(const Step& step, const BatchAxis& axis);

}  // namespace vramscope::whatif
