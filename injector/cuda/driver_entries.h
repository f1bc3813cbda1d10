// SPDX-License-Identifier: Apache-2.0
// Our function for each row of driver_functions.def, with the driver's name and type.
//
// The symbols are exported, so a program linked to libcuda calls our functions. If there is no driver, or the
// driver lacks a function, ours returns CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND.
#pragma once

#include "injector/cuda/driver_abi.h"

namespace vramscope::injector::driver {

#define DRIVER_FUNCTION(symbol, base, since, stream, event, parameters, arguments) \
  extern "C" __attribute__((visibility("default"))) int symbol parameters;
#include "injector/cuda/driver_functions.def"
#undef DRIVER_FUNCTION

}  // namespace vramscope::injector::driver
