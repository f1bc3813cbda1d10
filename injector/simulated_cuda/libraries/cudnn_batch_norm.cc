// SPDX-License-Identifier: Apache-2.0
// cuDNN's batch normalization. In addition to the saved statistics it keeps only the mask of a fused
// activation for backward (cuDNN API Reference, cudnnBatchNormalizationForwardTrainingEx: reserveSpace),
// which PyTorch never requests. The size of its workspace is not documented: it counts as 0, and the answer
// states this.
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
