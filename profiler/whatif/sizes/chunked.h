// SPDX-License-Identifier: Apache-2.0
// What a program cuts into so many parts, whatever their size is.
//
//   table [16, 64] ─ chunk(2, -1) ─┬─ sines   [16, 32]
//                                  └─ cosines [16, 32]     as many features, with 32 tokens or with 64
//
// Why told apart: the first part looks like one of a table of positions that is cut to the tokens.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Distances between elements of the whole along dimensions in which the part of it is shorter; none where its
// strides are not known.
[[nodiscard]] std::vector<int64_t> DistancesCut(const Step& step, const Operand& whole, const Operand& part);

// Blocks, each with the distance between elements of the dimension. O(operators).
[[nodiscard]] std::set<std::pair<uint32_t, int64_t>> FindChunked(const Step& step);

// The same of dimensions of one of these lengths that a block has where all of it is seen: a part of it was
// cut along another one, as unbind(1) takes the rows [32] of places [32, 2] that nonzero() found.
// O(operands).
[[nodiscard]] std::set<std::pair<uint32_t, int64_t>> FindUncut(const Step& step,
                                                               const std::set<int64_t>& lengths);

}  // namespace vramscope::whatif
