// SPDX-License-Identifier: Apache-2.0
// The kernels whose code is on the device.
//
// The driver loads a kernel's code at its first use (CUDA_MODULE_LOADING=LAZY, the default). Only around that
// launch, the device's used memory is queried. The query costs more than a launch.
//
//   cuLaunchKernel(f) ──► IsLoaded(f)? one look into a table: on to the driver
//                    └──► no: used before, launch, used after: the difference is code; NoteLoaded(f)
//
// Any thread, no locks. A kernel without a slot in the table counts as loaded.
#pragma once

#include <atomic>
#include <cstdint>

#include "injector/cuda/driver_abi.h"

namespace vramscope::injector {

// Call for each device that gets a context. With two devices, kernels are tracked per device.
void NoteContextOn(int device);

bool IsLoaded(driver::Handle function);
void NoteLoaded(driver::Handle function);
// True after 1,024 look-ups in a row that loaded nothing: further ones are not measured. Otherwise a runtime
// that looks up all of PyTorch's kernels (CUDA_MODULE_LOADING=EAGER) would take seconds.
bool LookupsLoadNothing();
void NoteLookup(bool has_loaded);

// Call after code was unloaded or a limit set: handles may be reused, and launches may take memory.
void ForgetLoaded();

}  // namespace vramscope::injector
