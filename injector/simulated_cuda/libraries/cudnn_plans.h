// SPDX-License-Identifier: Apache-2.0
// Simulates cuDNN's plans: the engines that cuDNN would propose for a graph of operations, and the workspace
// size of each plan.
//
// PyTorch chooses one of these engines (aten/src/ATen/native/cudnn/Conv_v8.cpp). Usually PyTorch takes the
// first allowed engine of the heuristics whose plan can be finalized. If there is none, PyTorch takes an
// engine of the fallback list. With torch.backends.cudnn.benchmark, PyTorch makes a plan for every engine,
// allocates the largest workspace, and measures the time of each plan.
#pragma once

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

// cudnnStatus_t
inline constexpr int kOk = 0;
inline constexpr int kBadParameter = 2000;
inline constexpr int kNotSupported = 3000;

// Does what cudnnBackendFinalize does: sets the computed attributes. Returns a cudnnStatus_t.
int Finalize(Descriptor& descriptor);

// Sets attribute kPlanJson of a finalized plan, if the real cuDNN is available. Call only when the program
// reads the attribute: PyTorch reads it for few plans.
void DescribeAsJson(Descriptor& plan);

// Replaces cudnnBackendExecute, but computes nothing. Only the first executed plan of a graph succeeds; other
// plans of the graph return kNotSupported. Therefore benchmark mode always keeps the engine that the
// heuristics rank first.
int Execute(Descriptor& plan);

}  // namespace vramscope::simulated::cudnn
