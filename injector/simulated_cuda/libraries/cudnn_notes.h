// SPDX-License-Identifier: Apache-2.0
// Writes a dry run's report about cuDNN workspaces. For convolutions, the report has the largest workspace
// and the source of its size. For attention and batch norm, the report lists only that they ran, because the
// sizes of their workspaces are not known.
//
//   VRAMSCOPE_SIMULATED_CUDNN_NOTES=FILE    written when the process ends, "%p" = its process id. Columns are
//                                           separated by tabs:
//     cudnn       BYTES                     largest workspace of a plan that ran, if the real cuDNN was asked
//     model       BYTES                     the same, if our model estimated it
//     attention   0                         an attention operation ran
//     batch_norm  0                         a batch norm operation ran
#pragma once

#include <cstdint>

namespace vramscope::simulated::cudnn {

// Call when a plan with a workspace of `bytes` has run. Thread-safe.
void NoteWorkspace(bool is_estimated, int64_t bytes);

// Operations whose workspace counts as 0.
enum class Operation { kAttention, kBatchNorm };

// Call when an attention or batch norm operation has run. Thread-safe.
void NoteUncounted(Operation operation);

}  // namespace vramscope::simulated::cudnn
