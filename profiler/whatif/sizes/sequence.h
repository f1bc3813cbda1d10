// SPDX-License-Identifier: Apache-2.0
// A recorded step as it would be with sequences of another length: the shapes of its tensors and the sizes of
// their blocks.
//
// Why a step and not a scene: what comes after (another batch, mixed precision, checkpoints) asks shapes, and
// the partial sums of reductions follow from both lengths.
#pragma once

#include <set>

#include "profiler/whatif/sizes/batch_axis.h"

namespace vramscope::whatif {

// Why the model takes no sequences of that length, as one sentence; "" when nothing is known against it.
// `axis` is the step's FollowSequence.
[[nodiscard]] std::string WhyTooLong(const Step& step, const BatchAxis& axis, int64_t length);

// Why the program makes other masks for that length than for the recorded one, as one sentence; "" when
// nothing says so. Of transformers' models: _ignore_causal_mask_sdpa in masking_utils.py.
[[nodiscard]] std::string WhyOtherMasks(const Step& step, int64_t recorded, int64_t length);

// Why it cannot be told what that length makes of a sequence that the program cuts into pieces, as one
// sentence: there may be more of them, or longer ones, and what is left over may be filled up. "" when it
// cuts none. O(operands).
[[nodiscard]] std::string WhyInPieces(const Step& step, const BatchAxis& axis, int64_t length);

// Numbers of tokens, more than there are, that the program fills its sequence up to and views as a single
// piece: it does so with any that is no longer than that. O(operands).
[[nodiscard]] std::set<int64_t> FilledPieces(const Step& step, const BatchAxis& axis);

// Why it cannot be told what another length makes of positions that the program numbers, as one sentence: a
// table of twice as many as there are tokens, say, may be as long for any sequence. "" when there is none, or
// it is cut to the tokens. O(operands).
[[nodiscard]] std::string WhyUnknownTables(const Step& step, const BatchAxis& axis);

// O(operands).
[[nodiscard]] Step AtLength(const Step& step, const BatchAxis& axis, int64_t length);

}  // namespace vramscope::whatif
