// SPDX-License-Identifier: Apache-2.0
// The driver's hooks in a process that has been using the driver for a while (attach): nothing was looked up
// through us.
//
//   libcudart, libnccl, libcublas, ...      slots of dlsym and dlvsym ──► ours: what is looked up from now on
//   linked to libcuda                       slots of its functions ─────► ours
//   variables of all loaded objects         words that are the address of one of the driver's functions,
//                                           as the CUDA runtime and PyTorch keep them ──► ours
//
// The last is what makes attach see the driver: the runtime has asked cuGetProcAddress long ago. Such a word
// was written while the program ran, so only pages that were written to are read, and not one is made
// resident by that. Pointers that a program keeps on its heap or stack are not found; CUDA calls through them
// are not seen. Verified on the simulated device; on NVIDIA's own runtime it rests on that keeping its
// pointers in its variables, and the count in the coverage says whether it does.
#pragma once

namespace vramscope::injector {

// Puts the hooks in, also into what was loaded since the last call. Not when VRAMSCOPE_NO_DRIVER_HOOKS is
// set, nor where the recorder was there from the start. From the recorder's own thread; some milliseconds.
void PatchDriverLate();
// Takes them out again. Pointers that the program has looked up meanwhile stay ours, and pass calls on.
void RestoreDriverLate();

}  // namespace vramscope::injector
