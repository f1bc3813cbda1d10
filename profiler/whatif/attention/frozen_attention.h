// SPDX-License-Identifier: Apache-2.0
// What attention computes where some of what it is given comes from frozen layers alone.
//
//   forward    queries, keys, values ─► result, sums of rows     the sums for a node of autograd only
//   backward   all three gradients at once; that of a mask when it is asked for
//
// Why apart: other operators are told which of their gradients to compute, or have one for each.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

inline constexpr uint16_t kOfMask = 3;  // which result of attention's backward is the gradient of its mask

// Whether it is backward of attention, which computes the gradients of queries, keys and values together,
// whoever needs them.
[[nodiscard]] bool ComputesAllGradients(const Step& step, const Op& op);
// Whether `op`, called by backward of attention, makes the gradient of a mask, and nothing needs it.
// `needed`: by block.
[[nodiscard]] bool IsOfUnneededMask(const Step& step, const Op& op, const std::vector<bool>& needed);
// Gradients that attention computed and nothing needs go with the node's own function
// (ScaledDotProductEfficientAttentionBackward0 in torch/csrc/autograd/generated/Functions.cpp). `run`: by
// operator, those that still do. `changed`: the step with what is left.
void EndUnneededGradients(const Step& step, const std::vector<bool>& run, const std::vector<bool>& needed,
                          Step& changed);
// Memory-efficient attention computes the sums of rows for its node alone (compute_log_sumexp in
// aten/src/ATen/native/transformers/attention.cpp). Flash attention, should a lever put it there, does not
// ask: they are nothing, and live as long. `made`: by node, those that still are.
void LeaveOutSums(const Step& step, const std::vector<bool>& made, Step& changed);

}  // namespace vramscope::whatif
