// SPDX-License-Identifier: Apache-2.0
// Programs that put samples through a part of the model in pieces of so many rows, wherever one sample ends.
//
//   films [4, 5, 3, 32, 32] ─ view ─ [20, 3, 32, 32] ─ split(8) ─┬─ [8, 3, 32, 32] ─ layers ─┐
//                                     5 rows of each sample      ├─ [8, 3, 32, 32] ─ layers ─┤ cat
//                                                                └─ [4, 3, 32, 32] ─ layers ─┘
//
// Why told apart: of twice as many samples there are five pieces of 8 rows, and of one sample one of 5. What
// a piece is made of is neither larger then nor there for each sample. Frames of a film are encoded so
// (diffusers' WanAnimateTransformer3DModel), or decoded. What autograd keeps of them is not followed into
// more pieces; what each drops stays as it was.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/whatif/sizes/batch_axis.h"

namespace vramscope::whatif {

struct FixedPieces {
  int64_t rows = 0;       // of the largest piece; 0: the program cuts none
  int64_t of_sample = 0;  // rows that one sample has
  // By block: of one piece alone, as far as forward goes. Empty where there are no pieces.
  std::vector<bool> of_one;

  [[nodiscard]] bool Has(uint32_t block) const { return block < of_one.size() && of_one[block]; }
  // Whether autograd keeps something that was made of one piece.
  [[nodiscard]] bool AreKept(const Step& step) const;
  // Of what is dropped with its piece, bytes with so many samples: a piece is as large, or all that there is.
  [[nodiscard]] uint64_t BytesOf(uint64_t recorded, int64_t samples) const;
};

// Those that a program cuts the samples into by a number of its own. Pieces of whole samples that are all
// alike are none: they may be a share of the batch. O(operands) the first time; the answer is part of the
// step.
[[nodiscard]] const FixedPieces& FixedPiecesOf(const Step& step);

}  // namespace vramscope::whatif
