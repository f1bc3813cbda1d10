// SPDX-License-Identifier: Apache-2.0
// Where flash attention, which 16 bits get instead of memory-efficient attention, leaves its result.
#pragma once

#include "profiler/whatif/step.h"

namespace vramscope::whatif {

// Memory-efficient attention returns [batch, rows, heads, width] without gaps. Flash attention makes its
// result like the queries: of those that were copied together as [batch, heads, rows, width], what puts heads
// beside each other again (reshape, or contiguous before a view) has to copy.
// aten/src/ATen/native/transformers/cuda/ flash_attn/flash_api.cpp: mha_fwd, empty_like(q).
//
// Whether `op` is memory-efficient attention that flash attention would replace, with such queries.
[[nodiscard]] bool ReturnsHeadsFirst(const Step& step, const Op& op);
// Whether `op` puts the heads of what attention returned beside each other.
[[nodiscard]] bool JoinsHeads(const Step& step, const Op& op);

}  // namespace vramscope::whatif
