// SPDX-License-Identifier: Apache-2.0
// Installs the driver's hooks in a process that already uses the driver (attach).
//
//   libcudart, libnccl, libcublas, ...      slots of dlsym and dlvsym ──► ours: what is looked up from now on
//   linked to libcuda                       slots of its functions ─────► ours
//   variables of all loaded objects         words that hold the address of one of the driver's functions,
//                                           as the CUDA runtime and PyTorch keep them ──► ours
//
// The last row is needed because the runtime called cuGetProcAddress long before. Only written pages are
// searched, and no page becomes resident. Calls through pointers on the heap or stack are not seen. Verified
// on the simulated device. On NVIDIA's runtime, the count in the coverage shows whether it works.
#pragma once

namespace vramscope::injector {

// Also hooks objects loaded since the last call. Does nothing with VRAMSCOPE_NO_DRIVER_HOOKS, or if the
// recorder was there from the start. Takes some milliseconds. Call on the recorder's own thread.
void PatchDriverLate();
// Removes the hooks. Pointers that the program has to our functions stay valid.
void RestoreDriverLate();

}  // namespace vramscope::injector
