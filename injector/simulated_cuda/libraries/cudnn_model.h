// SPDX-License-Identifier: Apache-2.0
// The workspaces of convolutions if the real cuDNN cannot be asked (cudnn_oracle.h).
//
// Tensor cores need channels-last tensors with channels in whole vectors of 16 bytes. Other tensors are
// copied into that form. x, w and y are the bytes of input, weight and output with padded channels. A
// gradient has the size of its tensor. The workspace is:
//
//                              forward    data gradient    weight gradient
//   16 bits, channels first    x + w + y  x + w + y        x + w + y
//   16 bits, channels last     only the padded copies of the tensors that need padding
//   TF32, channels first       x + w      x + w + y        x + w + y
//   TF32, channels last        x + w      w + y            x + y
//     but nothing with compute capability 9.0 to 11.x
//   all else                   nothing: FP32 without tensor cores, groups, compute capability below 7.5
//                              (FP16) or 8.0 (BF16, TF32), operations other than convolution
//
// Measured with cuDNN 9.26: 758 convolutions of 15 torchvision networks. Batch 8 and 64, seven precisions and
// layouts, 14 GPUs. docs/dryrun.md lists the errors.
#pragma once

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

// CUDNN_ATTR_ENGINE_GLOBAL_INDEX of the engines that the model knows.
enum ModelEngine : int64_t { kPlainEngine = 0, kTensorCoreEngine = 1 };

// Sets the results of heuristics. If tensor cores can do the convolution: first an engine that uses them,
// then one that does not. The first states tensor cores in its numerical notes, for allow_tf32. The fallback
// list has only the second engine. Engines report their workspaces. `capability`: 86 for 8.6.
void ProposeModelEngines(Descriptor& heuristics, int capability);

// Bytes of a plan; 0 for operations other than convolution.
int64_t ModelWorkspace(const Descriptor& graph, int64_t engine, int capability);

}  // namespace vramscope::simulated::cudnn
