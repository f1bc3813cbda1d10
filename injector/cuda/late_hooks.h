// SPDX-License-Identifier: Apache-2.0
// Installs the driver's hooks in a process that already uses the driver (attach), where no look-up went
// through us.
//
//   libcudart, libnccl, libcublas, ...      slots of dlsym and dlvsym ──► ours: what is looked up from now on
//   linked to libcuda                       slots of its functions ─────► ours
//   variables of all loaded objects         words that hold the address of one of the driver's functions,
//                                           as the CUDA runtime and PyTorch keep them ──► ours
//
// Without the last row, attach would see no call: the runtime called cuGetProcAddress long before. The
// words were written while the program ran, so only written pages are searched. The search makes no page
// resident. Pointers on the program's heap or stack are not found, and CUDA calls through them are not
// seen. Verified on the simulated device. On NVIDIA's runtime it works only if the runtime keeps its
// pointers in its variables; the count in the coverage shows whether it does.
#pragma once

namespace vramscope::injector {

// Installs the hooks, also in objects loaded since the last call. Does nothing if VRAMSCOPE_NO_DRIVER_HOOKS
// is set, or if the recorder was there from the start. Call from the recorder's own thread; takes some
// milliseconds.
void PatchDriverLate();
// Removes them again. If the program has looked up pointers to our functions, it keeps them; our functions
// then only pass the calls on.
void RestoreDriverLate();

}  // namespace vramscope::injector
