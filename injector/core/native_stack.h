// SPDX-License-Identifier: Apache-2.0
// Native stacks of allocations. Recorded only on request (stacks=native or all) and only in deep windows: an
// unwind costs microseconds, a record ten nanoseconds.
//
// A frame is the text "symbol (library+0x1f20)", with the mangled name that the library exports. Without a
// symbol it is "/path/library+0x1f20 [3b9ac9ff6dd8e2a1]", with the first bytes of the build id. The reader of
// the trace finds the symbol in that file (profiler/model/symbol_files.h). If path or build id is not known,
// it is "library+0x1f20". Texts are cached by return address.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::injector {

extern std::atomic<bool> native_stacks_on;

// A deep window begins or ends.
void SwitchNativeStacks(bool deep);

uint32_t CaptureNativeStack();
// The id of the calling thread's stack without this library's frames; 0 outside deep windows.
inline uint32_t NativeStackId() {
  return __builtin_expect(native_stacks_on.load(std::memory_order_relaxed), 0) ? CaptureNativeStack() : 0;
}

}  // namespace vramscope::injector
