// SPDX-License-Identifier: Apache-2.0
// The BFC allocators of this process: the device of each one, and the bytes it has taken from the driver or
// the host.
//
// One process has several: GPU_0_bfc and so on for the devices, gpu_host_bfc for pinned memory, mklcpu for
// CPU tensors from 256 KiB. Each one is asked once for its name and its type of memory.
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
  bool is_tensor_memory;               // false: pinned host memory, which holds data being copied

  [[nodiscard]] uint16_t DeviceCode() const;
};

// The entry of a BFC allocator, made at its first call. nullptr if there are too many of them.
Allocator* AllocatorOf(void* object);

// The bytes that the allocator set aside for a block that it has just handed out; `requested` if that is not
// known.
uint64_t BlockBytes(const void* allocator, const void* block, uint64_t requested);
// The bytes in all of its blocks; 0 if that is not known.
uint64_t BytesInUse(void* allocator);

}  // namespace vramscope::injector::tensorflow
