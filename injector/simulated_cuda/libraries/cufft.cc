// SPDX-License-Identifier: Apache-2.0
// cuFFT. Plans are numbers and need no work area: its size depends on the transform's factors and is not
// documented.
#include "injector/simulated_cuda/abi.h"

SIMULATED_EXPORT int cufftCreate(int* plan) {
  static int next = 1;
  *plan = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
  return 0;
}

// The extents are not outputs although the prototype has no const, so this one is not in the table.
SIMULATED_EXPORT int cufftXtMakePlanMany(int, int, long long*, long long*, long long, long long, int,
                                         long long*, long long, long long, int, long long, size_t* work_bytes,
                                         int) {
  if (work_bytes != nullptr) *work_bytes = 0;
  return 0;
}

// JAX refuses a release older than the one that it was built for: 12.0 in CUDA 13.0.
SIMULATED_EXPORT int cufftGetVersion(int* version) {
  *version = 12300;
  return 0;
}
