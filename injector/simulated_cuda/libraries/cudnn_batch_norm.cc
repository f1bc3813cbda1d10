// SPDX-License-Identifier: Apache-2.0
// cuDNN's batch normalization. What it keeps for backward beside the saved statistics is the mask of an
// activation that it computes too (cuDNN API Reference, cudnnBatchNormalizationForwardTrainingEx:
// reserveSpace), which PyTorch never asks of it. What it works in is not documented: it counts as nothing,
// and the answer says so.
#include <cstddef>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/libraries/cudnn_notes.h"

using vramscope::simulated::cudnn::NoteUncounted;
using vramscope::simulated::cudnn::Operation;

SIMULATED_EXPORT int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(void*, int, int, void*, void*,
                                                                              void*, void*, void*,
                                                                              size_t* bytes) {
  NoteUncounted(Operation::kBatchNorm);
  *bytes = 0;
  return 0;
}

SIMULATED_EXPORT int cudnnGetBatchNormalizationBackwardExWorkspaceSize(void*, int, int, void*, void*, void*,
                                                                       void*, void*, void*, void*,
                                                                       size_t* bytes) {
  NoteUncounted(Operation::kBatchNorm);
  *bytes = 0;
  return 0;
}
