// SPDX-License-Identifier: Apache-2.0
// What flash attention returns lies as the queries do (precision/kernels.h): where these have the order in
// which the program wants rows beside each other, nothing is copied any more.
//
//   nn.MultiheadAttention, queries [rows, batch, heads, width] in memory
//   memory-efficient attention   [batch, rows, heads, width] ── permute(2, 0, 1, 3) ── reshape() copies
//   flash attention              [rows, batch, heads, width] ── permute(2, 0, 1, 3) ── reshape() is a view
//
// So do the gradients of queries, keys and values, as what they are gradients of (empty_like): keys that are
// [batch, heads, rows, width] in memory, from a cache or contiguous(), have one that is copied where heads
// come beside each other again. Memory-efficient attention makes it [batch, rows, heads, width].
#pragma once

#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// `low`: which blocks of `step` are 16 bits wide in `changed`.
void TakeResultsAsViews(const Step& step, const std::vector<bool>& low, Step& changed);
void TakeGradientsAsViews(const Step& step, const std::vector<bool>& low, Step& changed);
void CopyGradientsInOtherOrder(const Step& step, const std::vector<bool>& low, Step& changed);
// These gradients lie as they were recorded after all: `step` has the copies, and `changed` none any more.
void TakeBackGradientCopies(const Step& step, const std::vector<uint32_t>& gradients, Step& changed);

}  // namespace vramscope::whatif
