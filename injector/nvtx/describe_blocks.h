// SPDX-License-Identifier: Apache-2.0
// Describes PyTorch's memory to another tool (a memory checker, another profiler) through NVTX's memory
// extension.
//
//   segment of the caching allocator (cudaMalloc)  ──► heap with the name "PyTorch segment"
//   block, from its allocation to its free         ──► region in the heap of its segment; outside all
//                                                      segments, in the process-wide heap
//
// Active only with --emit-nvtx-mem and another tool in NVTX_INJECTION64_PATH (chain.h). The tool is called on
// the allocating thread, inside the allocator's lock. A tool that allocates memory from PyTorch in this call
// deadlocks.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::injector::nvtx {

// True while DescribeBlock and DescribeFreedBlock may be called.
extern std::atomic<bool> describing_blocks;

// Loads the other tool's library and sets describing_blocks if the tool listens. Call after torch is loaded
// and before it allocates blocks. Does nothing without --emit-nvtx-mem.
void StartDescribingBlocks();

void DescribeBlock(const void* block, uint64_t bytes);
void DescribeFreedBlock(const void* block);

}  // namespace vramscope::injector::nvtx
