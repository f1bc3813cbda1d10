// SPDX-License-Identifier: Apache-2.0
// Native stacks of allocations, where they were asked for (stacks=native or all) and only in deep windows: an
// unwind costs microseconds, a record ten nanoseconds.
//
// A frame is the text "symbol (library+0x1f20)", mangled as the library exports it; without a symbol
// "library+0x1f20". Texts are cached by return address.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::injector {

extern std::atomic<bool> native_stacks_on;

// A deep window begins or ends.
void SwitchNativeStacks(bool deep);

uint32_t CaptureNativeStack();
// The id of the calling thread's stack, without the frames of this library; 0 outside of deep windows.
inline uint32_t NativeStackId() {
  return __builtin_expect(native_stacks_on.load(std::memory_order_relaxed), 0) ? CaptureNativeStack() : 0;
}

}  // namespace vramscope::injector
