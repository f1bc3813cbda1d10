// SPDX-License-Identifier: Apache-2.0
// The BFC allocators of this process: their devices, and bytes taken from driver or host.
//
// A process has several. GPU_0_bfc and so on are for devices, gpu_host_bfc for pinned memory. mklcpu is for
// CPU tensors from 256 KiB.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace vramscope::injector::tensorflow {

struct Allocator {
  std::atomic<const void*> object;
  std::atomic<uint64_t> region_bytes;  // taken from its sub-allocator
  int8_t device_type;                  // c10::DeviceType, as in the trace: 0 CPU, 1 CUDA
  int8_t device_index;                 // -1: the only CPU
  bool is_tensor_memory;               // false: pinned host memory for copies

  [[nodiscard]] uint16_t DeviceCode() const;
};

// The entry of a BFC allocator. nullptr if there are too many.
Allocator* AllocatorOf(void* object);

// The bytes set aside for a block that was just handed out; `requested` if unknown.
uint64_t BlockBytes(const void* allocator, const void* block, uint64_t requested);
// The bytes in all blocks of the allocator; 0 if unknown.
uint64_t BytesInUse(void* allocator);

}  // namespace vramscope::injector::tensorflow
