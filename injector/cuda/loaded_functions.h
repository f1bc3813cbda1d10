// SPDX-License-Identifier: Apache-2.0
// The kernels whose code is on the device already.
//
// Why: the driver loads a kernel's code when it is first used (CUDA_MODULE_LOADING=LAZY, the default), so the
// device's used memory has to be asked for around that launch, and around no other: a training step launches
// thousands of kernels, and the question costs more than a launch.
//
//   cuLaunchKernel(f) ──► IsLoaded(f)? one look into a table: on to the driver
//                    └──► no: used before, launch, used after: the difference is code; NoteLoaded(f)
//
// Any thread, no locks. A kernel that finds no room in the table counts as loaded: its code is not measured.
#pragma once

#include <atomic>
#include <cstdint>

#include "injector/cuda/driver_abi.h"

namespace vramscope::injector {

// Once a second device has a context, a kernel is loaded on each.
void NoteContextOn(int device);

bool IsLoaded(driver::Handle function);
void NoteLoaded(driver::Handle function);
// Whether so many lookups of functions in a row have loaded nothing that no more are looked at: a runtime
// that looks up all kernels of PyTorch at once (CUDA_MODULE_LOADING=EAGER) would take seconds otherwise.
bool LookupsLoadNothing();
void NoteLookup(bool has_loaded);

// Code was unloaded, or a limit was set: handles may come again, and launches may take memory again.
void ForgetLoaded();

}  // namespace vramscope::injector
