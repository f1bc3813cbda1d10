// SPDX-License-Identifier: Apache-2.0
// What a dry run reports about cuDNN's workspaces. For convolutions: their sizes and where these come from.
// For other operations: which ones ran, because their workspaces are not known.
//
//   VRAMSCOPE_SIMULATED_CUDNN_NOTES=FILE    written when the process ends, "%p" = its process id:
//     cudnn       BYTES                     asked; the largest workspace of a plan that ran; tab between
//     model       BYTES                     estimated; likewise
//     attention   0                         such an operation ran
//     batch_norm  0                         such an operation ran
#pragma once

#include <cstdint>

namespace vramscope::simulated::cudnn {

// A plan with a workspace of `bytes` has run. Any thread.
void NoteWorkspace(bool is_estimated, int64_t bytes);

// Operations whose workspace counts as 0.
enum class Operation { kAttention, kBatchNorm };

// Such an operation ran. Any thread.
void NoteUncounted(Operation operation);

}  // namespace vramscope::simulated::cudnn
