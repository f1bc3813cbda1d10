// SPDX-License-Identifier: Apache-2.0
// The version of this cuSPARSE. JAX refuses a release older than the one that it was built for: 12.6 in CUDA 13.0.
#include "injector/simulated_cuda/abi.h"

SIMULATED_EXPORT int cusparseGetVersion(void*, int* version) {
  *version = 12700;
  return 0;
}

SIMULATED_EXPORT int cusparseGetProperty(int which, int* value) {
  constexpr int kParts[] = {12, 7, 0};
  if (which < 0 || which > 2) return 3;  // CUSPARSE_STATUS_INVALID_VALUE
  *value = kParts[which];
  return 0;
}
