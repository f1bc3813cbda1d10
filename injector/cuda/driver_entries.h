// SPDX-License-Identifier: Apache-2.0
// Declares our replacement for each driver function in driver_functions.def. Our function has the same name
// and type as the driver's function.
//
// The symbols are exported, so a program that links to libcuda calls our functions. If there is no driver, or
// if the driver lacks a function, our function returns CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND.
#pragma once

#include "injector/cuda/driver_abi.h"

namespace vramscope::injector::driver {

#define DRIVER_FUNCTION(symbol, base, since, stream, event, parameters, arguments) \
  extern "C" __attribute__((visibility("default"))) int symbol parameters;
#include "injector/cuda/driver_functions.def"
#undef DRIVER_FUNCTION

}  // namespace vramscope::injector::driver
