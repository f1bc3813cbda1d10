// SPDX-License-Identifier: Apache-2.0
// Batch norm in a type that cuDNN is not asked for: bfloat16, and 16 bits with weights of 16 bits
// (_select_batch_norm_backend in aten/src/ATen/native/Normalization.cpp). Of what lies channels last
// PyTorch's own kernels take more than cuDNN's, and in another order:
//
//   forward    result, mean, 1 / deviation, staging ┐          between: while the kernel is launched
//   backward   sums ─ gradients of weight and bias, staging ┐, the input's gradient ─ the sums go
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Bytes in which the thread blocks that share a channel hand each other what they reduced, for one number of
// each channel, and of counters of those that are through; 0 where one block reduces all of it.
// flexible_launch_configs() in aten/src/ATen/native/cuda/Normalization.cuh.
struct Staging {
  uint64_t numbers = 0, semaphores = 0;
};
[[nodiscard]] Staging StagingOf(uint64_t channels, uint64_t reduced);

// `changed`: `step` with 16 bits where `low` says so, by block of the recorded step.
void NormalizeByOwnKernels(const Step& step, const std::vector<bool>& low, Step& changed);

}  // namespace vramscope::whatif
