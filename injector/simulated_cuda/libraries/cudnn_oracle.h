// SPDX-License-Identifier: Apache-2.0
// Asks the real cuDNN, in another process (cudnn_oracle_main.cc), for its engines on this GPU and their
// workspaces.
//
//   PyTorch ── questions ──► simulated libcudnn ── socket ──► vramscope-cudnn-oracle ── dlopen ──► real
//                            libcudnn.so.9                                                  libcudnn.so.9
//
// Which cuDNN: VRAMSCOPE_SIMULATED_CUDNN_LIBRARY, a file or its folder ("none": do not ask). Else
// nvidia/cudnn/lib/libcudnn.so.9, installed with PyTorch. cuDNN 9.8 and later answers without a GPU.
// Otherwise cudnn_model.h answers.
#pragma once

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

struct OracleAnswer {
  bool known = false;        // false: there is no cuDNN to ask
  int status = 0;            // cuDNN's
  OwnDescriptor descriptor;  // what cuDNN set, in the question's kind; nullptr unless status is 0
};

// Asks for the result of finalizing `question` (heuristics, an engine or a plan). The first question takes
// about 0.3 s. Answers take 0.1 to 20 ms and are cached. Any thread.
OracleAnswer AskOracle(const Descriptor& question);

}  // namespace vramscope::simulated::cudnn
