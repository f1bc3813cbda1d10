// SPDX-License-Identifier: Apache-2.0
// The BFC allocators of TensorFlow in this process: the device of each allocator, and the bytes that it has
// taken from the driver or the host.
//
// A process has several BFC allocators. GPU_0_bfc, GPU_1_bfc and so on are for devices. gpu_host_bfc is for
// pinned memory. mklcpu is for CPU tensors of 256 KiB and more.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace vramscope::injector::tensorflow {

struct Allocator {
  std::atomic<const void*> object;
  std::atomic<uint64_t> region_bytes;  // bytes taken from the sub-allocator
  int8_t device_type;                  // c10::DeviceType, as in the trace: 0 CPU, 1 CUDA
  int8_t device_index;                 // -1 for the CPU
  bool is_tensor_memory;               // false: pinned host memory for copies

  [[nodiscard]] uint16_t DeviceCode() const;
};

// Returns the entry of the BFC allocator `object`. Returns nullptr if the table of allocators is full.
Allocator* AllocatorOf(void* object);

// Returns the allocated bytes of `block`, including rounding. Returns `requested` if the allocated bytes are
// unknown.
uint64_t BlockBytes(const void* allocator, const void* block, uint64_t requested);
// Returns the bytes of all allocated blocks of the allocator, or 0 if unknown.
uint64_t BytesInUse(void* allocator);

}  // namespace vramscope::injector::tensorflow
