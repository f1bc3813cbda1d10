// SPDX-License-Identifier: Apache-2.0
// What flash attention returns lies as the queries do (precision_kernels.h): where these have the order in
// which the program wants rows beside each other, nothing is copied any more.
//
//   nn.MultiheadAttention, queries [rows, batch, heads, width] in memory
//   memory-efficient attention   [batch, rows, heads, width] ── permute(2, 0, 1, 3) ── reshape() copies
//   flash attention              [rows, batch, heads, width] ── permute(2, 0, 1, 3) ── reshape() is a view
#pragma once

#include <vector>

#include "profiler/whatif/step.h"

namespace vramscope::whatif {

// `low`: which blocks of `step` are 16 bits wide in `changed`.
void TakeResultsAsViews(const Step& step, const std::vector<bool>& low, Step& changed);

}  // namespace vramscope::whatif
