// SPDX-License-Identifier: Apache-2.0
// Which engines cuDNN would propose for a graph of operations, and what their plans need.
//
// PyTorch's own code chooses among them (aten/src/ATen/native/cudnn/Conv_v8.cpp): usually the first engine of
// the heuristics that its settings allow and that can be finalized, else one of the fallback list; with
// torch.backends.cudnn.benchmark it makes a plan of every engine, allocates the largest workspace among them,
// and times them. So nothing of that is decided here.
#pragma once

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

// cudnnStatus_t
inline constexpr int kOk = 0;
inline constexpr int kBadParameter = 2000;
inline constexpr int kNotSupported = 3000;

// What cudnnBackendFinalize does: sets in the descriptor what cuDNN knows of it. Returns cuDNN's status.
int Finalize(Descriptor& descriptor);

// Sets a finalized plan's kPlanJson where cuDNN can be asked for it. PyTorch reads it of few plans, so that
// not each of them is worth a question.
void DescribeAsJson(Descriptor& plan);

// What cudnnBackendExecute does with a plan: nothing, but of all plans of one graph only the first that runs
// succeeds. That makes benchmark mode keep the engine that the heuristics take for the fastest: the times
// that it would compare are those of an idle host, and a choice by them would differ from run to run.
int Execute(Descriptor& plan);

}  // namespace vramscope::simulated::cudnn
