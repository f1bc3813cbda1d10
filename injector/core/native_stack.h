// SPDX-License-Identifier: Apache-2.0
// Native stacks of allocations. A stack is captured only with the option stacks=native or stacks=all, and
// only in deep steps, because an unwind costs microseconds.
//
// A frame is a text with the exported mangled name: "symbol (library+0x1f20)". If the library exports no
// symbol for the address, the frame has the first bytes of the build id (profiler/model/symbol_files.h):
// "/path/library+0x1f20 [3b9ac9ff6dd8e2a1]". If the path or the build id is unknown, the frame is
// "library+0x1f20".
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::injector {

extern std::atomic<bool> native_stacks_on;

// Call when deep steps begin (`deep` = true) or end.
void SwitchNativeStacks(bool deep);

uint32_t CaptureNativeStack();
// Returns the stack id of the calling thread, without this library's frames. Returns 0 while no native stacks
// are captured.
inline uint32_t NativeStackId() {
  return __builtin_expect(native_stacks_on.load(std::memory_order_relaxed), 0) ? CaptureNativeStack() : 0;
}

}  // namespace vramscope::injector
