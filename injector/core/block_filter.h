// SPDX-License-Identifier: Apache-2.0
// Decides for which devices blocks are recorded (option device=auto|cpu|cuda|all).
//
// With device=auto, CPU blocks are recorded until the first block on another device. After that, only blocks
// on other devices are recorded.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::injector {

struct BlockFilter {
  std::atomic<uint8_t> ready;       // 0 = the options have not been read
  std::atomic<uint8_t> cpu;         // 1 = record CPU blocks
  std::atomic<uint8_t> others;      // 1 = record blocks of all other devices
  std::atomic<uint8_t> leaves_cpu;  // 1 = the first block on another device clears `cpu`
};
extern BlockFilter block_filter;

void ReadBlockFilter();
void LeaveCpu();

// Returns true if blocks of this device are recorded. `device_type` is a c10::DeviceType; 0 = CPU.
inline bool WantsBlocksOf(int8_t device_type) {
  if (__builtin_expect(block_filter.ready.load(std::memory_order_acquire) == 0, 0)) ReadBlockFilter();
  if (device_type == 0) return block_filter.cpu.load(std::memory_order_relaxed) != 0;
  if (__builtin_expect(block_filter.leaves_cpu.load(std::memory_order_relaxed) != 0, 0)) LeaveCpu();
  return block_filter.others.load(std::memory_order_relaxed) != 0;
}

}  // namespace vramscope::injector
