// SPDX-License-Identifier: Apache-2.0
// Describes PyTorch's memory to another tool (a memory checker, another profiler) through NVTX's memory
// extension.
//
//   segment of the caching allocator (cudaMalloc)  ──► heap, "PyTorch segment"
//   block handed out and taken back                ──► region in its segment's heap; outside all segments,
//                                                      in the process-wide heap
//
// Only with --emit-nvtx-mem and a tool in NVTX_INJECTION64_PATH (chain.h). The tool is called on the
// allocating thread, inside the allocator's lock. A tool that allocates from PyTorch there deadlocks.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::injector::nvtx {

extern std::atomic<bool> describing_blocks;

// Loads the other tool's library and makes it listen. Call after torch is loaded and before it has blocks.
// Does nothing without the option.
void StartDescribingBlocks();

void DescribeBlock(const void* block, uint64_t bytes);
void DescribeFreedBlock(const void* block);

}  // namespace vramscope::injector::nvtx
