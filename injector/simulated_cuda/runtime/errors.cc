// SPDX-License-Identifier: Apache-2.0
// cudaGetLastError and the errors' names.
#include "injector/simulated_cuda/runtime/call.h"

using namespace vramscope::simulated;

SIMULATED_EXPORT int cudaGetLastError() {
  const int error = LastError();
  ForgetLastError();
  return error;
}

SIMULATED_EXPORT int cudaPeekAtLastError() { return LastError(); }

SIMULATED_EXPORT const char* cudaGetErrorName(int error) {
  switch (error) {
#define ERROR(number, driver, runtime, text) \
  case number:                               \
    return runtime;
#include "injector/simulated_cuda/errors.def"
#undef ERROR
    default:
      return "unrecognized error code";
  }
}

SIMULATED_EXPORT const char* cudaGetErrorString(int error) {
  switch (error) {
#define ERROR(number, driver, runtime, text) \
  case number:                               \
    return text;
#include "injector/simulated_cuda/errors.def"
#undef ERROR
    default:
      return "unrecognized error code";
  }
}
