// SPDX-License-Identifier: Apache-2.0
// Which engines cuDNN would propose for a graph of operations, and the workspaces of their plans.
//
// PyTorch's own code chooses among them (aten/src/ATen/native/cudnn/Conv_v8.cpp). Usually it takes the first
// engine of the heuristics that its settings allow and that can be finalized, else one of the fallback list.
// With torch.backends.cudnn.benchmark it makes a plan of every engine, allocates the largest workspace among
// them, and times them. So nothing of that is decided here.
#pragma once

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

// cudnnStatus_t
inline constexpr int kOk = 0;
inline constexpr int kBadParameter = 2000;
inline constexpr int kNotSupported = 3000;

// cudnnBackendFinalize: sets the attributes that cuDNN computes. Returns cuDNN's status.
int Finalize(Descriptor& descriptor);

// Sets a finalized plan's kPlanJson if cuDNN can be asked for it. PyTorch reads it for few plans, so it is
// not worth a question for every plan.
void DescribeAsJson(Descriptor& plan);

// cudnnBackendExecute with a plan: computes nothing, but of all plans of one graph only the first one that
// runs succeeds. So benchmark mode keeps the engine that the heuristics consider fastest. Otherwise it would
// compare the times of an idle host, and its choice would differ from run to run.
int Execute(Descriptor& plan);

}  // namespace vramscope::simulated::cudnn
