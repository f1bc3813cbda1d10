// SPDX-License-Identifier: Apache-2.0
// The workspaces of convolutions if the real cuDNN cannot be asked (cudnn_oracle.h).
//
// Why they exist: tensor cores need channels-last tensors whose channels fill whole vectors of 16 bytes. An
// engine that uses tensor cores copies other tensors into that form. x, w and y are the sizes in bytes of
// input, weight and output, with padded channels. A gradient has the size of its tensor. The workspace is:
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
// Found by asking cuDNN 9.26 for 758 convolutions of 15 torchvision networks at batch 8 and 64, in seven
// precisions and layouts on 14 GPUs. docs/dryrun.md lists the model's errors.
#pragma once

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

// CUDNN_ATTR_ENGINE_GLOBAL_INDEX of the engines that the model knows.
enum ModelEngine : int64_t { kPlainEngine = 0, kTensorCoreEngine = 1 };

// Sets the results of heuristics. For a convolution that tensor cores can do: first an engine that uses them
// and states this in its numerical notes, so that PyTorch's allow_tf32 decides; then one that does not. The
// fallback list has only the latter. Each engine reports its workspace. `capability` is 86 for 8.6.
void ProposeModelEngines(Descriptor& heuristics, int capability);

// Bytes that a plan needs; 0 for operations other than convolution.
int64_t ModelWorkspace(const Descriptor& graph, int64_t engine, int capability);

}  // namespace vramscope::simulated::cudnn
