// SPDX-License-Identifier: Apache-2.0
// What modules leave in lists and tables that they are given, and find there when a checkpoint computes them
// again: causal convolutions that go through a film piece by piece keep each piece's end for the next one.
//
//   forward     conv(piece, cache)    cache is empty: the piece is padded; its end goes into cache
//   recompute   conv(piece, cache)    cache has an end, which goes in front of the piece
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Why what these calls take when they are computed again is not known: one of them writes into a list or a
// table that it is given. Empty where none does, or an older recording does not tell.
[[nodiscard]] std::string WhyFindsWhatItLeft(const Step& step, const std::vector<uint32_t>& calls);

}  // namespace vramscope::whatif
