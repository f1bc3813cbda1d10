// SPDX-License-Identifier: Apache-2.0
// Asks the real cuDNN which engines it has for this GPU, and how large their workspaces are. The real cuDNN
// runs in another process (cudnn_oracle_main.cc).
//
//   PyTorch ── questions ──► simulated libcudnn ── socket ──► vramscope-cudnn-oracle ── dlopen ──► real
//                            libcudnn.so.9                                                  libcudnn.so.9
//
// VRAMSCOPE_SIMULATED_CUDNN_LIBRARY names the real cuDNN: a file, its folder, or "none" to ask no cuDNN. By
// default, nvidia/cudnn/lib/libcudnn.so.9 is used, which is installed with PyTorch. cuDNN 9.8 and later can
// answer without a GPU. For earlier versions, cudnn_model.h estimates the answers.
#pragma once

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

struct OracleAnswer {
  bool known = false;        // false if there is no cuDNN that can answer
  int status = 0;            // status that cuDNN returned
  OwnDescriptor descriptor;  // the result, of the same kind as the question; nullptr unless status is 0
};

// Returns the result of finalizing `question` (heuristics, an engine or a plan). The first question takes
// about 0.3 s. Answers take 0.1 to 20 ms and are cached. Any thread may call this.
OracleAnswer AskOracle(const Descriptor& question);

}  // namespace vramscope::simulated::cudnn
