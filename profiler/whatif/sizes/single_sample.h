// SPDX-License-Identifier: Apache-2.0
// Indices of samples, and what operators do otherwise with a batch of one sample: whole rows become one row,
// and what was expanded over the samples is what it was expanded from.
//
//   mask[rows, columns]         rows [4, 1, 1, 1], columns [1, 1, 1, 32]: both are expanded to [4, 1, 1, 32]
//   and
//                               copied; with one sample columns stay as they are
//   mask.cumsum(-1)             [4, 32] row by row; [1, 32] by the whole device, which needs memory for that
//   q.transpose(1, 2) @ k       samples and heads of [4, 8, 32, 64] become one dimension of 32 in a copy,
//   those
//                               of [1, 8, 32, 64] where they lie: the copies that matmul makes are gone
#pragma once

#include "profiler/whatif/sizes/batch_axis.h"

namespace vramscope::whatif {

// Whether the operator copies what one of aten::index's operands, which has the samples, is indexed with.
[[nodiscard]] bool IsIndexOfSamples(const Step& step, const BatchAxis& axis, const Op& op);

// Of what an operator makes of tensors that do not have the batch: elements from one sample to the next; 0
// when there are none. x.expand(batch, -1, -1), written out: the first dimension, which has no distance in
// the operand, or what became of it where that was transposed; or, where time comes first, the second, or the
// one behind others that x was expanded to as well: positions.expand(4, batch, -1), of text, time, height and
// width; x.repeat(batch, 1, 1), of parameters x.repeat(1, batch, 1) too, or torch.cat([x] * batch), where all
// of x's first dimension is there once for each sample. What is joined of several that were expanded has the
// samples of each; what a product expands has them as its other operand.
[[nodiscard]] uint64_t ExpandedAxis(const Step& step, const BatchAxis& axis, const Op& op,
                                    const Operand& result, bool time_first);

// Whether the operator works on a tensor with a dimension of that size and no distance along it: one that was
// expanded to the samples, or to a sequence.
[[nodiscard]] bool TakesExpanded(const Step& step, const Op& op, int64_t size);

// The same of an operand of as many dimensions as the result, along dimension `d` of both.
[[nodiscard]] bool WritesOutExpanded(const Step& step, const Op& op, const Operand& result, uint32_t d);

// Of which block this one is a copy that one sample does not need; kNone: it is none, or is needed. `axis`:
// of the recorded batch, which has more.
[[nodiscard]] uint32_t CopiedForSamples(const Step& step, const BatchAxis& axis, uint32_t block);
// Those have no bytes then, but for a gradient that is copied all the same, later; what they are copies of is
// there as long as they were.
void LeaveOutCopiesForSamples(const Step& step, const BatchAxis& axis, Scene& scene);

// What scans of one row take.
void AddScans(const Step& step, const BatchAxis& axis, Scene& scene);

}  // namespace vramscope::whatif
