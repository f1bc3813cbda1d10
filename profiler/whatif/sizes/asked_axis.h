// SPDX-License-Identifier: Apache-2.0
// Where the tokens must be, besides where they were followed to: in what meets them.
//
//   x [8, 4, 96, 64] * cosines [8, 1, 96, 64]      x has 96 tokens there, so they have as many
//   arange(96) ─ ... ─ cosines                     of which no operator told
//
// Why: positions, masks and tables are made of numbers that a program computes itself, and no input leads
// there.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/sizes/carried_axis.h"

namespace vramscope::whatif {

struct AskedAxis {
  uint32_t block = model::kNone;
  PlacesOfAxis places{};  // BatchAxis::stride and BatchAxis::second
  uint8_t element = 0;    // BatchAxis::element
  int64_t beside = 0;     // BatchAxis::beside
};

// By operators of forward whose results have the axis where operands that the step made have not, in a
// dimension of as many elements: those blocks, each once. Of samples, which are not joined with others, those
// that have none anywhere: the wrong place may have been found, which is as good as the right one.
// O(operands).
[[nodiscard]] std::vector<AskedAxis> AskedOfOperands(const Step& step, const BatchAxis& axis, bool sequence);

// What `follow` finds with all that is asked of what it finds.
[[nodiscard]] Result<BatchAxis> FollowAsked(
    const Step& step, bool sequence,
    const std::function<Result<BatchAxis>(std::span<const AskedAxis>)>& follow);

}  // namespace vramscope::whatif
