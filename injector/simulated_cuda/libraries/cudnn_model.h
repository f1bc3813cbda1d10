// SPDX-License-Identifier: Apache-2.0
// The workspaces of convolutions where the real cuDNN cannot be asked (cudnn_oracle.h).
#pragma once

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

void ProposeModelEngines(Descriptor& heuristics);

// Bytes; 0 for graphs that are no convolution.
int64_t ModelWorkspace(const Descriptor& graph, int64_t engine);

}  // namespace vramscope::simulated::cudnn
