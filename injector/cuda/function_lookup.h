// SPDX-License-Identifier: Apache-2.0
// Makes the program's look-ups of driver functions return the recorder's functions.
//
//   dlsym(handle, "cuMemAlloc_v2") ──► assembly: not a driver function: jump to the real dlsym
//                                  └─► vramscope_driver_function_for: the real function comes from
//                                      the real dlsym, ours is returned
//   cuGetProcAddress("cuMemAlloc", &f, 12000, flags) ──► the driver answers ──► StandInForAnswer: ours in f
//
// Rules for the code:
//   - Compare the whole name, and search only with the caller's handle.
//   - For other names, jump to the real dlsym instead of calling it. Otherwise RTLD_NEXT and RTLD_DEFAULT
//     would see the wrong caller.
//   - Do not change the driver's own look-ups.
//   - Take no locks, allocate nothing, and do not call CUDA.
#pragma once

#include <cstdint>

namespace vramscope::injector {

struct Answer {
  void* function;
  uint64_t is_final;  // 0 = jump to the real dlsym
};
// Called from assembly for dlsym and dlvsym. For dlsym, `version` is nullptr.
extern "C" Answer vramscope_driver_function_for(void* handle, const char* name, const char* version,
                                                const void* caller);

// Call after cuGetProcAddress has set `function` for `caller`. Replaces a driver function in `function` by
// the recorder's function.
void StandInForAnswer(const void* caller, const char* name, void** function, int cuda_version,
                      uint64_t flags);

}  // namespace vramscope::injector
