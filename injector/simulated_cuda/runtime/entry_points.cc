// SPDX-License-Identifier: Apache-2.0
// cudaGetDriverEntryPoint: the driver's functions by name, for programs that do not link it.
#include <dlfcn.h>

#include "injector/simulated_cuda/runtime/call.h"

using namespace vramscope::simulated;

namespace {

using GetProcAddress = int (*)(const char*, void**, int, uint64_t, int*);

// cudaDriverEntryPointQueryResult has the driver's numbers. An unknown name is an answer, not an error.
int Find(const char* symbol, void** function, int version, uint64_t flags, int* status) {
  if (TheDriver() == nullptr) return Keep(kNoDevice);
  static const auto get =
      reinterpret_cast<GetProcAddress>(dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuGetProcAddress_v2"));
  const int error = get(symbol, function, version, flags, status);
  return error == kNotFound && status != nullptr ? static_cast<int>(kSuccess) : Keep(error);
}

constexpr int kThisRelease = SIMULATED_CUDA_ABI * 1000 + 20;

}  // namespace

SIMULATED_EXPORT int cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                             int* status) {
  return Find(symbol, function, kThisRelease, flags, status);
}

SIMULATED_EXPORT int cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                                      unsigned long long flags, int* status) {
  return Find(symbol, function, static_cast<int>(version), flags, status);
}
