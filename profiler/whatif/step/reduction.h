// SPDX-License-Identifier: Apache-2.0
// Scratch memory of a reduction on a CUDA device, in addition to its result: partial sums of thread blocks
// that share one output, and counters of finished thread blocks.
//
// Why a formula and not a share of the input: the size depends on how the work is divided among the
// multiprocessors. If the batch changes, the scratch memory stays the same, halves, doubles or vanishes. For
// the bias gradients of wide layers it is larger than the input (32 MiB for a [4096, 1024] one on an A100).
// PyTorch: setReduceConfig, ReduceConfig::global_memory_size and ReduceConfig::semaphore_size in
// aten/src/ATen/native/cuda/Reduce.cuh, the same from 1.13 to 2.15.
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
  std::vector<ReducedDimension> dimensions;  // of the input
  uint32_t accumulated_bytes = 4;            // of one partial result: float for 16-bit types
  int64_t vector = 4;                        // elements per load along the reduction
};

// The two device properties that determine how the work is divided.
struct Multiprocessors {
  int count = 108;
  int threads = 2048;  // resident on one multiprocessor
};

// Bytes of two memory blocks. The counters are allocated after the partial sums and freed before them. Both
// are 0 if each output is computed by a single thread block.
struct ReductionScratch {
  uint64_t sums = 0, counters = 0;
};
[[nodiscard]] ReductionScratch ScratchOf(const Reduction& reduction, Multiprocessors device);

}  // namespace vramscope::whatif
