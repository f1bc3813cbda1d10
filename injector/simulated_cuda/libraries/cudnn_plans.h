// SPDX-License-Identifier: Apache-2.0
// The engines that cuDNN would propose for a graph of operations, and their plans' workspaces.
//
// PyTorch chooses among them (aten/src/ATen/native/cudnn/Conv_v8.cpp). Usually it takes the first allowed
// engine of the heuristics that can be finalized, else one of the fallback list. With
// torch.backends.cudnn.benchmark it plans every engine, allocates the largest workspace, and times them.
#pragma once

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

// cudnnStatus_t
inline constexpr int kOk = 0;
inline constexpr int kBadParameter = 2000;
inline constexpr int kNotSupported = 3000;

// cudnnBackendFinalize: sets computed attributes. Returns cuDNN's status.
int Finalize(Descriptor& descriptor);

// Sets a finalized plan's kPlanJson, if cuDNN can be asked. Not for every plan: PyTorch reads it for few.
void DescribeAsJson(Descriptor& plan);

// cudnnBackendExecute: computes nothing. Of all plans of a graph, only the first that is executed succeeds.
// So benchmark mode keeps the engine that the heuristics rank first, the same in every run.
int Execute(Descriptor& plan);

}  // namespace vramscope::simulated::cudnn
