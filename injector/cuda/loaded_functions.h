// SPDX-License-Identifier: Apache-2.0
// The kernels whose code is already on the device.
//
// Why: the driver loads a kernel's code at its first use (CUDA_MODULE_LOADING=LAZY, the default). So the
// device's used memory has to be queried around that launch, and around no other. A training step launches
// thousands of kernels, and the query costs more than a launch.
//
//   cuLaunchKernel(f) ──► IsLoaded(f)? one look into a table: on to the driver
//                    └──► no: used before, launch, used after: the difference is code; NoteLoaded(f)
//
// Any thread, no locks. A kernel that finds no slot in the table counts as loaded: its code is not measured.
#pragma once

#include <atomic>
#include <cstdint>

#include "injector/cuda/driver_abi.h"

namespace vramscope::injector {

// Call it for each device that gets a context. Once two devices have one, loaded kernels are tracked per
// device.
void NoteContextOn(int device);

bool IsLoaded(driver::Handle function);
void NoteLoaded(driver::Handle function);
// True once 1,024 look-ups in a row have loaded nothing. Further look-ups are then not measured. Otherwise a
// runtime that looks up all kernels of PyTorch at once (CUDA_MODULE_LOADING=EAGER) would take seconds.
bool LookupsLoadNothing();
void NoteLookup(bool has_loaded);

// Code was unloaded, or a limit was set: handles may be reused, and launches may take memory again.
void ForgetLoaded();

}  // namespace vramscope::injector
