// SPDX-License-Identifier: Apache-2.0
// Records allocations, frees and failed allocations of PyTorch's allocators.
//
// Some callers hold the allocator's mutex. Therefore these functions must not call the allocator. The hooks
// of PyTorch's CPU allocators do not use these functions; they write shorter records.
#pragma once

#include "injector/core/block_filter.h"
#include "injector/core/thread_ring.h"
#include "injector/nvtx/describe_blocks.h"
#include "injector/torch/cuda_allocator_hooks.h"
#include "injector/torch/deep_window.h"
#include "injector/torch/hook_table.h"
#include "injector/torch/python_route.h"
#include "injector/torch/tensor_layout.h"
#include "trace_format/event.h"

namespace vramscope::injector {

inline uint16_t Code(DeviceValue device) {
  return static_cast<uint16_t>(
      trace::DeviceCode(static_cast<uint8_t>(device.type), static_cast<uint8_t>(device.index)));
}

// What the calling thread will allocate next. kWorkspace: a workspace of cuBLAS (workspace_hooks.cc).
// kBuckets: buckets of DistributedDataParallel (collective_hooks.cc). kAny: not known.
enum class ExpectedBlocks : uint8_t { kAny, kWorkspace, kBuckets };
extern thread_local ExpectedBlocks expected_blocks __attribute__((tls_model("initial-exec")));
void LabelWorkspace(const void* block, uint64_t bytes);
void LabelBucket(const void* block, uint64_t bytes);

inline void LabelAsExpected(const void* block, uint64_t bytes) {
  if (__builtin_expect(expected_blocks == ExpectedBlocks::kAny, 1)) return;
  if (expected_blocks == ExpectedBlocks::kBuckets) return LabelBucket(block, bytes);
  expected_blocks = ExpectedBlocks::kAny;
  LabelWorkspace(block, bytes);
}

// Records an allocation. `allocated`, `reserved`: bytes of all blocks and of all segments of the allocator
// after the allocation; 0 = the allocator does not report them.
inline void RecordBlock(const void* block, uint64_t bytes, DeviceValue device, uint64_t allocated,
                        uint64_t reserved) {
  ConsiderShim();
  NoteBlock(block, bytes);
  const bool of_request = cuda_request.bytes != 0 && cuda_request.bytes <= bytes;
  RecordAfterAll(trace::EventType::kAlloc, Code(device), BlockStackId(), reinterpret_cast<uint64_t>(block),
                 bytes, of_request ? cuda_request.stream : 0, of_request ? cuda_request.bytes : 0, allocated,
                 reserved);
  cuda_request.bytes = 0;
  LabelAsExpected(block, bytes);
  if (__builtin_expect(nvtx::describing_blocks.load(std::memory_order_relaxed), 0))
    nvtx::DescribeBlock(block, bytes);
}

inline void RecordFreedBlock(const void* block, uint64_t bytes, DeviceValue device, uint64_t allocated,
                             uint64_t reserved) {
  Record(trace::EventType::kFree, Code(device), 0, reinterpret_cast<uint64_t>(block), bytes, allocated,
         reserved);
  if (__builtin_expect(nvtx::describing_blocks.load(std::memory_order_relaxed), 0))
    nvtx::DescribeFreedBlock(block);
}

inline void RecordNoBlock(int64_t bytes, DeviceValue device, uint64_t allocated, uint64_t reserved) {
  expected_blocks = ExpectedBlocks::kAny;
  cuda_request.bytes = 0;
  Record(trace::EventType::kOutOfMemory, Code(device), BlockStackId(), bytes, allocated, reserved);
}

}  // namespace vramscope::injector
