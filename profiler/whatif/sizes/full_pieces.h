// SPDX-License-Identifier: Apache-2.0
// A sequence of just as many tokens as a piece that the program fills it up to: what is computed of the piece
// stays as long with fewer tokens.
//
//   x [4, 32, 8] ─ pad(…, -tokens % 32) ─► [4, 32, 8] ─ view ─► [4, 1, 32, 8] ─ scan ─► y     all as it was
//   x [4, 16, 8] ─ pad ─► [4, 32, 8] ─ view ─► [4, 1, 32, 8] ─ scan ─► y[:, :16]
//
// Why followed by operators: in the record nothing tells the tokens of a piece from those of the sequence by
// their number (Mamba 2 as Bamba computes it).
#pragma once

#include <vector>

#include "profiler/whatif/sizes/batch_axis.h"

namespace vramscope::whatif {

// By block: whether it is as long as the piece, of a step in which FollowSequence found `axis`. Empty: the
// program fills nothing up. O(operands).
[[nodiscard]] std::vector<bool> OfFullPiece(const Step& step, const BatchAxis& axis);

}  // namespace vramscope::whatif
