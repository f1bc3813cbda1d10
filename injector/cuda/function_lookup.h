// SPDX-License-Identifier: Apache-2.0
// Answers the program's look-ups of driver functions with the recorder's functions.
//
//   dlsym(handle, "cuMemAlloc_v2") ──► assembly: not a driver function: jump to the real dlsym
//                                  └─► vramscope_driver_function_for: the real function comes from
//                                      the real dlsym, ours is returned
//   cuGetProcAddress("cuMemAlloc", &f, 12000, flags) ──► the driver answers ──► StandInForAnswer: ours in f
//
// Rules: compare the whole name. Search only with the caller's handle. For other names, jump to the real
// dlsym (no call), so that RTLD_NEXT and RTLD_DEFAULT see the real caller. Leave the driver's own look-ups alone. No locks, no
// allocation, no CUDA.
#pragma once

#include <cstdint>

namespace vramscope::injector {

struct Answer {
  void* function;
  uint64_t is_final;  // 0 = jump on to the real dlsym
};
// Called from assembly, for dlsym and dlvsym. `version` may be nullptr.
extern "C" Answer vramscope_driver_function_for(void* handle, const char* name, const char* version,
                                                const void* caller);

// Call after cuGetProcAddress has answered `caller`.
void StandInForAnswer(const void* caller, const char* name, void** function, int cuda_version,
                      uint64_t flags);

}  // namespace vramscope::injector
