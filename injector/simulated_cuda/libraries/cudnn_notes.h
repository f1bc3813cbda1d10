// SPDX-License-Identifier: Apache-2.0
// What a dry run says about cuDNN's workspaces: of convolutions where their sizes come from, and how much
// they are; which other operations ran, whose workspaces are not known.
//
//   VRAMSCOPE_SIMULATED_CUDNN_NOTES=FILE    written when the process ends, "%p" = its number: "cudnn" (asked)
//   or
//                                           "model" (estimated), a tab, and the largest workspace of a plan
//                                           that ran, in bytes; or "attention" or
//   "batch_norm", a tab and 0
#pragma once

#include <cstdint>

namespace vramscope::simulated::cudnn {

// A plan with a workspace of so many bytes has run. Any thread.
void NoteWorkspace(bool is_estimated, int64_t bytes);

// Operations whose workspace is taken to be nothing.
enum class Operation { kAttention, kBatchNorm };

// Such an operation ran. Any thread.
void NoteUncounted(Operation operation);

}  // namespace vramscope::simulated::cudnn
