// SPDX-License-Identifier: Apache-2.0
// The workspaces of convolutions where the real cuDNN cannot be asked (cudnn_oracle.h).
//
// What they are for: tensor cores want the channels last and padded to whole vectors of 16 bytes, so an
// engine that uses them copies what is not so. x, w and y are the convolution's tensors in bytes, gradients
// where it computes those, padded channels included:
//
//                              forward    data gradient    weight gradient
//   16 bits, channels first    x + w + y  x + w + y        x + w + y
//   16 bits, channels last     the padded copies alone, of what has to be padded
//   TF32, channels first       x + w      x + w + y        x + w + y
//   TF32, channels last        x + w      w + y            x + y          nothing on 9.0 and 10.x
//   all else                   nothing: FP32 without tensor cores, groups, compute capability below 7.5
//                              (16 bits) and 8.0 (TF32), operations that are no convolution
//
// Found by asking cuDNN 9.26 for 758 convolutions of 15 torchvision networks at batch 8 and 64, in seven
// precisions and layouts on 14 GPUs; docs/dryrun.md says how far it is from them.
#pragma once

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

// CUDNN_ATTR_ENGINE_GLOBAL_INDEX of the engines that the model knows.
enum ModelEngine : int64_t { kPlainEngine = 0, kTensorCoreEngine = 1 };

// Sets the results of heuristics: for a convolution that tensor cores can do first an engine that uses them,
// which says so in its numerical notes, so that PyTorch's allow_tf32 decides; then one that does not. The
// fallback list has the latter alone. Each says its workspace. `capability` is 86 for 8.6.
void ProposeModelEngines(Descriptor& heuristics, int capability);

// Bytes that a plan needs; 0 for what is no convolution.
int64_t ModelWorkspace(const Descriptor& graph, int64_t engine, int capability);

}  // namespace vramscope::simulated::cudnn
