// SPDX-License-Identifier: Apache-2.0
// Operators whose input lies with gaps, as a part of a longer sequence or of queries, keys and values
// together does: they copy it, but not what was converted for them.
//
//   float32     x[:, :n] ─ reshape ─ clone ─ mm ─ add_     three dimensions with gaps
//   autocast    x[:, :n] ─ to(bfloat16) ─ addmm            the copy has none, so that nothing is cloned
//
//   float32     qkv[..., 0, :] ─ layer_norm { contiguous ─ clone }     and the same in backward
//   autocast    qkv[..., 0, :] ─ to(float32) ─ layer_norm              of queries in bfloat16
//
//   float32     x[:, 1:].mT.view(n, c, h, w) ─ conv2d { contiguous(channels_last) ─ clone }
//   autocast    x[:, 1:].mT.view(n, c, h, w) ─ to(bfloat16) ─ conv2d   which keeps the order of dimensions
//
// aten/src/ATen/native/Linear.cpp: linear() takes addmm for what is contiguous; _to_copy in
// aten/src/ATen/native/TensorConversions.cpp makes what is not dense without gaps.
#pragma once

#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// The operand of the layer that `op`, an operator within it, clones and that autocast would have copied
// without gaps; nullptr: it is another operator.
[[nodiscard]] const Operand* ClonedInLinear(const Step& step, const Op& op);

// Whether `op` clones, for contiguous(), what an operator around it was given and autocast would have made
// without gaps.
[[nodiscard]] bool ClonesWhatIsGiven(const Step& step, const Op& op);

// Behind an operator: the layer has the copy that was made for it in the place of the clone.
void TakeCopyForClone(const Step& step, const Op& op, Versions& versions);

// Such layers compute as addmm does, where their clones are gone from `changed`: with its workspace, if the
// step has one, and the gradients of the input, the weight and the bias in this order (AddmmBackward0). The
// others have those of the bias, the weight and the input. O(operators + nodes).
void ComputeAsAddmm(const Step& step, Step& changed);

// torch.addmm(rows, x, y) of rows that the result has as many of takes cuBLASLt in 16 bits, from 2.15 on
// (isInputCompliesAddmmCudaLt in aten/src/ATen/native/cuda/Blas.cpp), and in float32 cuBLAS: its workspace
// is that of a layer with a bias, if the step has one. `low`: by block. O(operators).
void MultiplyInLt(const Step& step, const std::vector<bool>& low, Step& changed);

}  // namespace vramscope::whatif
