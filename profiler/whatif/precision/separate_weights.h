// SPDX-License-Identifier: Apache-2.0
// The weights of a recurrent network in blocks of their own.
//
// Why: nn.LSTM and the like put them into one block for cuDNN, flatten_parameters(), but not in bfloat16
// (that type is none of torch/backends/cudnn/rnn.py's): each stays the block that it was moved to the device
// in.
//
//   float32    w  w  b  b ─ flattened ─► wwbb      the four go
//   bfloat16   w  w  b  b                          they stay; each call makes a copy of all together
#pragma once

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Whether the operand is one of a recurrent network's weights, which may be frozen.
[[nodiscard]] bool IsOfNetwork(const Step& step, const Operand& operand);

// `changed`: `step` in 16 bits, with the same blocks and passing ones, and perhaps more blocks.
void SeparateWeights(const Step& step, Step& changed);

}  // namespace vramscope::whatif
