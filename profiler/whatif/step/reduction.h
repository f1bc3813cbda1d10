// SPDX-License-Identifier: Apache-2.0
// What a reduction on a CUDA device needs beside its result: partial sums of thread blocks that share one
// output, and counters of those that are through.
//
// Why a formula and not a share of the input: it depends on how the work is divided among the
// multiprocessors, stays where it is, halves, doubles or vanishes when the batch changes, and is larger than
// the input for the bias gradients of wide layers (32 MiB of a [4096, 1024] one on an A100). PyTorch:
// setReduceConfig, ReduceConfig::global_memory_size and ReduceConfig::semaphore_size in
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
  uint32_t accumulated_bytes = 4;            // of one partial result: floats for 16-bit types
  int64_t vector = 4;                        // elements that one load takes along the reduction
};

// The two figures of a device that decide.
struct Multiprocessors {
  int count = 108;
  int threads = 2048;  // resident on one
};

// Bytes of two blocks, the counters' there within the life of the partial sums'; 0 both when one thread block
// sums each output.
struct ReductionScratch {
  uint64_t sums = 0, counters = 0;
};
[[nodiscard]] ReductionScratch ScratchOf(const Reduction& reduction, Multiprocessors device);

}  // namespace vramscope::whatif
