// SPDX-License-Identifier: Apache-2.0
// Gradients of masks: what attention adds to its scores, made of nothing, and then asked for a gradient that
// nobody uses, as gradient_checkpointing_enable() does in T5's attention over the encoder's words.
//
//   mask = zeros(1, heads, rows, columns); mask.requires_grad = True
//
//   backward    attention of layer 3 ─ gradient [batch, heads, ...] ─ sum over the batch ─┐
//               attention of layer 2 ─ gradient [batch, heads, ...] ─ sum over the batch ─┴ added in place
//               ...                             mask and sum stay until the loss is another one
//
// Where attention is written out, scores + mask gives both the same gradient, which is summed up alone.
//
// Source: _efficient_attention_backward in aten/src/ATen/native/transformers/cuda/attention_backward.cu;
// validate_outputs in torch/csrc/autograd/engine.cpp.
#pragma once

#include <string_view>
#include <vector>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// Blocks of masks that these modules make, patterns with commas between, and memory-efficient attention
// takes, or an addition to larger scores. Fails with a sentence when one of the patterns names none.
[[nodiscard]] Result<std::vector<uint32_t>> MasksOf(const Step& step, std::string_view modules);

// Attention computes their gradients too.
void AddMaskGradients(const Step& step, const std::vector<uint32_t>& masks, Scene& scene);

}  // namespace vramscope::whatif
