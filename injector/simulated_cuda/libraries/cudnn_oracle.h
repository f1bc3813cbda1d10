// SPDX-License-Identifier: Apache-2.0
// The real cuDNN, asked in another process (cudnn_oracle_main.cc) which engines it would choose on this GPU
// and how large their workspaces are.
//
//   PyTorch ── questions ──► simulated libcudnn ── socket ──► vramscope-cudnn-oracle ── dlopen ──► real
//   libcudnn.so.9 libcudnn.so.9, real
//
// Which cuDNN: VRAMSCOPE_SIMULATED_CUDNN_LIBRARY (a file or its folder; "none": do not ask), else the one
// that is installed beside PyTorch, nvidia/cudnn/lib/libcudnn.so.9. From 9.8 on it can be asked without a
// GPU; an older one, or none, leaves the answers to cudnn_model.h.
#pragma once

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

struct OracleAnswer {
  bool known = false;        // false: there is nobody to ask
  int status = 0;            // cuDNN's
  OwnDescriptor descriptor;  // what cuDNN set in a descriptor of this kind; nullptr unless status is 0
};

// Asks what cuDNN says when `question` (heuristics, an engine or a plan) is finalized. The process is started
// by the first question and takes some 0.3 s; an answer 0.1 to 20 ms, kept for the next time. Any thread.
OracleAnswer AskOracle(const Descriptor& question);

}  // namespace vramscope::simulated::cudnn
