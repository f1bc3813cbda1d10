// SPDX-License-Identifier: Apache-2.0
// cuGetErrorName, cuGetErrorString.
#include "injector/simulated_cuda/abi.h"

using namespace vramscope::simulated;

SIMULATED_EXPORT int cuGetErrorName(int error, const char** name) {
  switch (error) {
#define ERROR(number, driver, runtime, text) \
  case number:                               \
    *name = driver;                          \
    return kSuccess;
#include "injector/simulated_cuda/errors.def"
#undef ERROR
    default:
      *name = nullptr;
      return kInvalidValue;
  }
}

SIMULATED_EXPORT int cuGetErrorString(int error, const char** sentence) {
  switch (error) {
#define ERROR(number, driver, runtime, text) \
  case number:                               \
    *sentence = text;                        \
    return kSuccess;
#include "injector/simulated_cuda/errors.def"
#undef ERROR
    default:
      *sentence = nullptr;
      return kInvalidValue;
  }
}
