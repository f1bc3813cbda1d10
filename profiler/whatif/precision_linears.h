// SPDX-License-Identifier: Apache-2.0
// Linear layers with a bias whose input lies with gaps, as a part of a longer sequence does.
//
//   float32     x[:, :n] ─ reshape ─ clone ─ mm ─ add_     three dimensions with gaps
//   autocast    x[:, :n] ─ to(bfloat16) ─ addmm            the copy has none, so that nothing is cloned
//
// aten/src/ATen/native/Linear.cpp: linear() takes addmm for what is contiguous; _to_copy in
// aten/src/ATen/native/TensorConversions.cpp makes what is not dense without gaps.
#pragma once

#include "profiler/whatif/precision_versions.h"
#include "profiler/whatif/step.h"

namespace vramscope::whatif {

// The operand of the layer that `op`, an operator within it, clones and that autocast would have copied
// without gaps; nullptr: it is another operator.
[[nodiscard]] const Operand* ClonedInLinear(const Step& step, const Op& op);

// Behind an operator of forward: the layer has the copy that was made for it in the place of the clone.
void TakeCopyForClone(const Step& step, const Op& op, Versions& versions);

// Such layers compute as addmm does, where their clones are gone from `changed`: with its workspace, if the
// step has one, and the gradients of the input, the weight and the bias in this order (AddmmBackward0). The
// others have those of the bias, the weight and the input. O(operators + nodes).
void ComputeAsAddmm(const Step& step, Step& changed);

}  // namespace vramscope::whatif
