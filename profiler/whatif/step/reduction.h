// SPDX-License-Identifier: Apache-2.0
// Computes the scratch memory of a reduction on a CUDA device. The scratch memory holds partial sums of
// thread blocks that share one output, and counters of finished thread blocks.
//
// The size depends on how the work is divided among the multiprocessors. With another batch, the size may
// stay the same, halve, double or vanish. Example: 32 MiB on an A100 for the bias gradients of a [4096, 1024]
// layer, more than the input. PyTorch: setReduceConfig, ReduceConfig::global_memory_size and
// ReduceConfig::semaphore_size in aten/src/ATen/native/cuda/Reduce.cuh, the same from 1.13 to 2.15.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace vramscope::whatif {

struct ReducedDimension {
  int64_t size = 1;
  int64_t stride = 0;  // elements
  bool reduced = false;
};

struct Reduction {
  std::vector<ReducedDimension> dimensions;  // dimensions of the input
  uint32_t accumulated_bytes = 4;            // size of one partial result; 4 (float) for 16-bit types
  int64_t vector = 4;                        // elements per load along the reduction
};

// The device properties that determine the division of work.
struct Multiprocessors {
  int count = 108;
  int threads = 2048;  // maximum resident threads on one multiprocessor
};

// The bytes of two memory blocks. The block of counters is allocated after the block of sums and freed before
// it. Both are 0 if each output is computed by a single thread block.
struct ReductionScratch {
  uint64_t sums = 0, counters = 0;
};
[[nodiscard]] ReductionScratch ScratchOf(const Reduction& reduction, Multiprocessors device);

}  // namespace vramscope::whatif
