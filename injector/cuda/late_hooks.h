// SPDX-License-Identifier: Apache-2.0
// Installs the hooks of driver functions in a process that already uses the driver (attach).
//
//   in these objects                        vramscope replaces the addresses in
//   libcudart, libnccl, libcublas, ...      the slots of dlsym and dlvsym: later look-ups return hooks
//   objects that are linked to libcuda      the slots of the driver's functions
//   all loaded objects                      variables that hold the address of a driver function; the CUDA
//                                           runtime and PyTorch have such variables
//
// The last row is needed because the runtime called cuGetProcAddress before the attach. Only pages that the
// program has written are searched, so that no other page is loaded into memory. Calls through pointers on
// the heap or stack are not recorded.
//
// The tests compare the driver calls that are recorded after an attach with the simulated GPU's own ledger.
// The coverage has the number of replaced pointers. If it is 0, driver calls are not recorded.
#pragma once

namespace vramscope::injector {

// Installs the hooks, also in objects loaded since the last call. Does nothing if VRAMSCOPE_NO_DRIVER_HOOKS
// is set, or if the recorder was loaded at the start of the process. Takes some milliseconds. Call on the
// recorder's own thread.
void PatchDriverLate();
// Removes the hooks. Pointers that the program has to our functions stay valid.
void RestoreDriverLate();

}  // namespace vramscope::injector
