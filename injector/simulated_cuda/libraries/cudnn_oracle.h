// SPDX-License-Identifier: Apache-2.0
// Asks the real cuDNN, in another process (cudnn_oracle_main.cc), which engines it would choose on this GPU
// and how large their workspaces are.
//
//   PyTorch ── questions ──► simulated libcudnn ── socket ──► vramscope-cudnn-oracle ── dlopen ──► real
//                            libcudnn.so.9                                                  libcudnn.so.9
//
// Which cuDNN: the one in VRAMSCOPE_SIMULATED_CUDNN_LIBRARY (a file or its folder; "none": do not ask), else
// the one installed with PyTorch, nvidia/cudnn/lib/libcudnn.so.9. cuDNN 9.8 and later can be asked without a
// GPU. With an older one, or none, cudnn_model.h gives the answers.
#pragma once

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

struct OracleAnswer {
  bool known = false;        // false: there is no cuDNN to ask
  int status = 0;            // cuDNN's
  OwnDescriptor descriptor;  // what cuDNN set in a descriptor of this kind; nullptr unless status is 0
};

// Asks what cuDNN returns when `question` (heuristics, an engine or a plan) is finalized. The first question
// starts the process, which takes about 0.3 s. An answer takes 0.1 to 20 ms and is cached. Any thread.
OracleAnswer AskOracle(const Descriptor& question);

}  // namespace vramscope::simulated::cudnn
