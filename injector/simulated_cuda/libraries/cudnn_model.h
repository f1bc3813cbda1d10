// SPDX-License-Identifier: Apache-2.0
// Computes the workspaces of cuDNN's convolutions on the simulated GPU. The model is used if the real cuDNN
// library cannot compute them (cudnn_oracle.h).
//
// Tensor cores need channels-last tensors whose channels are padded to a multiple of 16 bytes. Other tensors
// are copied into that form. x, w and y are the bytes of input, weight and output with padded channels. A
// gradient has the size of its tensor. The workspace is:
//
//                              forward    data gradient    weight gradient
//   16 bits, channels first    x + w + y  x + w + y        x + w + y
//   16 bits, channels last     the padded copies of the tensors that need padding
//   TF32, channels first       x + w      x + w + y        x + w + y
//   TF32, channels last        x + w      w + y            x + y
//                              0 bytes with compute capability 9.0 to 11.x
//   other convolutions         0 bytes: FP32 without tensor cores, groups, compute capability below 7.5
//                              (FP16) or 8.0 (BF16, TF32)
//   other operations           0 bytes
//
// The model was compared with cuDNN 9.26 for 758 convolutions of 15 torchvision networks, with batch sizes 8
// and 64, seven combinations of precision and layout, and 14 GPUs. docs/dryrun.md lists the errors.
#pragma once

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

// The two engines that the model proposes. The values are those of CUDNN_ATTR_ENGINE_GLOBAL_INDEX.
enum ModelEngine : int64_t { kPlainEngine = 0, kTensorCoreEngine = 1 };

// Sets the engine configurations that cuDNN's heuristics return, with their workspaces. If tensor cores can
// compute the convolution, the first engine is kTensorCoreEngine. Its numerical notes contain tensor cores,
// which PyTorch checks for allow_tf32. The last engine is kPlainEngine. In fallback mode it is the only
// engine. `capability`: compute capability, 86 for 8.6.
void ProposeModelEngines(Descriptor& heuristics, int capability);

// Returns the workspace of an execution plan in bytes; 0 for operations other than convolution.
int64_t ModelWorkspace(const Descriptor& graph, int64_t engine, int capability);

}  // namespace vramscope::simulated::cudnn
