// SPDX-License-Identifier: Apache-2.0
// Reports the memory that this process would have taken on other GPU models, for `vramscope dryrun --gpu
// all`.
//
//   VRAMSCOPE_SIMULATED_ELSEWHERE=FILE   The simulated CUDA runtime and the simulated NCCL append their lines
//                                        to FILE when the process ends. In the name, "%p" stands for the
//                                        process id. Columns are separated by tabs:
//     kernels    89        BYTES         code of the launched kernels on compute capability 8.9
//     nccl       rtx-4090  BYTES         NCCL's buffers and code on that model (gpus.def)
//     attention  fused     1             the program used an attention kernel that some GPUs do not support,
//                                        so its memory depends on the GPU
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace vramscope::simulated {

// Appends `lines` to the file that VRAMSCOPE_SIMULATED_ELSEWHERE names. Does nothing if the variable is not
// set.
inline void TellElsewhere(const std::string& lines) {
  const char* const pattern = std::getenv("VRAMSCOPE_SIMULATED_ELSEWHERE");
  if (pattern == nullptr || lines.empty()) return;
  std::string name = pattern;
  if (const size_t mark = name.find("%p"); mark != std::string::npos)
    name.replace(mark, 2, std::to_string(getpid()));
  const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (write(file, lines.data(), lines.size()) < 0) {
    // Not reported: the program's output is not ours.
  }
  close(file);
}

}  // namespace vramscope::simulated
