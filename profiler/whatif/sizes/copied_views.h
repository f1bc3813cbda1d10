// SPDX-License-Identifier: Apache-2.0
// What one sample needs no copy for is looked at where it lies, so that its own views may need one.
//
//   q, k, v = qkv.permute(2, 0, 3, 1, 4).reshape(3, batch * heads, rows * columns, width).unbind(0)
//   einsum("bhwc,wkc->bhwk", q.reshape(-1, rows, columns, width), positions)
//
//   the first reshape copies samples and heads into one dimension, and the one of einsum, which counts them
//   together with the rows, is a view of that. With one sample the first is a view, and heads and rows of qkv
//   lie apart: the second copies, for its product.
#pragma once

#include <optional>
#include <vector>

#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/step/strides.h"

namespace vramscope::whatif {

// Distances in the block of what is reshaped of the dimensions that the result has with one sample; nothing
// where that takes a copy, or the samples are in no dimension of their own.
[[nodiscard]] std::optional<Extents> ViewOfOneSample(const Step& step, const BatchAxis& axis,
                                                     const Op& reshape);

// `copy`, of the scene, is what this operator copies and does not with one sample: blocks that views of it
// are then.
[[nodiscard]] std::vector<Block> CopiesOfViews(const Step& step, const BatchAxis& axis, const Op& reshape,
                                               const Block& copy);

// Why a batch of one sample is not told, as one sentence: x.transpose(1, 2).view(samples, channels, rows,
// columns) lies channels last, and not of one sample, whose distance from the next is then one point's
// (is_channels_last_strides_2d_s4 in c10/core/MemoryFormat.h), so that convolutions copy what they are given
// and what follows lies otherwise. "" when the step has no such view.
// O(operands), and once more for each such view.
[[nodiscard]] std::string WhyOneLiesOtherwise(const Step& step, const BatchAxis& axis);

}  // namespace vramscope::whatif
