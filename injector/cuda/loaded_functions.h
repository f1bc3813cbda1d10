// SPDX-License-Identifier: Apache-2.0
// Remembers which kernels have their code on the device, so that the device memory of kernel code can be
// measured.
//
// The driver loads a kernel's code at the kernel's first launch (CUDA_MODULE_LOADING=LAZY, the default). Used
// device memory is queried only before and after that first launch, because a query costs more than a launch.
//
//   cuLaunchKernel(f) ──► IsLoaded(f)? yes, after one table look-up: call the driver
//                    └──► no: query, launch, query: the difference is code; NoteLoaded(f)
//
// All functions are thread-safe and take no locks. If the table is full, a kernel counts as loaded.
#pragma once

#include <atomic>
#include <cstdint>

#include "injector/cuda/driver_abi.h"

namespace vramscope::injector {

// Call this for each device on which a context is created. From the second device on, kernels are tracked per
// device.
void NoteContextOn(int device);

bool IsLoaded(driver::Handle function);
void NoteLoaded(driver::Handle function);
// True after 1,024 function look-ups in a row that loaded no code. The caller then stops measuring look-ups.
// Otherwise a CUDA runtime that looks up all of PyTorch's kernels (CUDA_MODULE_LOADING=EAGER) would take
// seconds.
bool LookupsLoadNothing();
void NoteLookup(bool has_loaded);

// Call this after code was unloaded, because function handles may be reused, or after a limit was set,
// because launches may take memory again.
void ForgetLoaded();

}  // namespace vramscope::injector
