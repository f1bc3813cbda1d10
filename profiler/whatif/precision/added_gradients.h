// SPDX-License-Identifier: Apache-2.0
// Where the engine adds up gradients: in a new block, or in that of the first one.
//
// Why it is asked: it adds in place what nobody else may see (can_accumulate_inplace in
// torch/csrc/autograd/input_buffer.cpp): no view of another tensor. What a lever puts in the place of a layer
// may return a tensor of its own where the layer's last node handed on a view, and the other way round.
//
//   recorded   first ━━━━━━━━┓                    in place   first ━━━━━━━━━━━━━━━▶
//              second    ━━━ add ━━━▶ sum                    second    ━━━ add_
#pragma once

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// The operator that adds to the block, as the first of the gradients, in a new one; kNone: there is none.
[[nodiscard]] uint32_t AdditionTo(const Step& step, uint32_t first);
// It adds in place: the sum is in the first one's block.
void AddInPlace(uint32_t addition, Step& step);
// Everything that worked on `from` works on `to`.
void Repoint(uint32_t from, uint32_t to, Step& step);

}  // namespace vramscope::whatif
