// SPDX-License-Identifier: Apache-2.0
// What operators of a step do with memory that depends on what is trained: for freeze.h.
#pragma once

#include <optional>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Whether the operator of backward looks at something of forward in another shape, for another operator of
// its node: BmmBackward0 transposes a factor for the gradient of the other one alone.
[[nodiscard]] bool ViewsWhatItKeeps(const Step& step, const Op& op);

// Whether it is told which of its results to compute, the first, the gradient of the input, among them
// (output_mask in aten/src/ATen/native/native_functions.yaml).
[[nodiscard]] bool TakesMask(const Step& step, const Op& op);

// The operator of backward that made the block and computes all gradients at once, whichever are asked for;
// kNone: another one did.
[[nodiscard]] uint32_t GradientOfAll(const Step& step, uint32_t block);

// The gradient of the input, where the block is the weight that a convolution lays out again for it, alone
// (cudnn_convolution_backward_input in aten/src/ATen/native/cudnn/ConvShared.cpp); kNone: it is none. The
// input is copied in any case, where it has one dimension.
[[nodiscard]] uint32_t GradientOfCopy(const Step& step, uint32_t block);

// A convolution computes one gradient after the other, each with a workspace of its own behind it
// (cudnn_convolution_backward in aten/src/ATen/native/cudnn/ConvShared.cpp). Adds the workspaces, and the
// copies of weights, to `gone`, which by block has the gradients that are not computed.
void DropScratch(const Step& step, std::vector<bool>& gone);

// Whether it is a copy that an operator which changes its operand makes for its node before (original_self in
// tools/autograd/gen_variable_type.py), and only for that.
[[nodiscard]] bool IsCopyForItsNode(const Step& step, const Saved& saved);

// Whether a batch of matrices, in however many dimensions, is one in three without a copy; so it is taken to
// be where nothing is known of how it lies.
[[nodiscard]] bool AreMatricesInARow(const Step& step, const Operand& batch);

// How long a checkpoint that the program itself makes holds what it was given.
struct HeldByCheckpoint {
  Position recorded = kBefore;  // kBefore: what was saved is no argument of one
  Position now = kBefore;       // while only these nodes keep what they do
};
// Of Step::saved[argument]. torch.utils.checkpoint saves its arguments for a node of its own, which nothing
// refers to but the place holders that the nodes inside keep for their tensors (_NoopSaveInputs); the tensors
// themselves go in forward. `kept`, by Step::saved: its node keeps it.
[[nodiscard]] HeldByCheckpoint HeldBy(const Step& step, size_t argument, const std::vector<bool>& kept);

// Without what variables held when backward called modules again for such a checkpoint; nothing: it called
// none.
[[nodiscard]] std::optional<Step> WithoutCallsInBackward(const Step& step);

}  // namespace vramscope::whatif
