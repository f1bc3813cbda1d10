// SPDX-License-Identifier: Apache-2.0
// Native stacks of allocations. Captured only on request (stacks=native or all), and then only in deep
// windows: an unwind costs microseconds.
//
// A frame is "symbol (library+0x1f20)", with the exported mangled name. Without a symbol:
// "/path/library+0x1f20 [3b9ac9ff6dd8e2a1]", with the build id's first bytes (profiler/model/symbol_files.h).
// Without path or build id: "library+0x1f20".
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::injector {

extern std::atomic<bool> native_stacks_on;

// Call when a deep window begins or ends.
void SwitchNativeStacks(bool deep);

uint32_t CaptureNativeStack();
// The calling thread's stack without this library's frames; 0 outside deep windows.
inline uint32_t NativeStackId() {
  return __builtin_expect(native_stacks_on.load(std::memory_order_relaxed), 0) ? CaptureNativeStack() : 0;
}

}  // namespace vramscope::injector
