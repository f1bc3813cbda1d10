// SPDX-License-Identifier: Apache-2.0
// Computes the results of comparison kernels on one value. The simulated GPU runs no kernels, but programs
// wait for results of comparisons, and PyTorch's checks depend on these results.
//
//   x == 3, x < 3, x == y    The result is computed, also for !=, <=, > and >=. A value that the program
//                            copied to the device is compared as it is. Any other value is 0, because no
//                            kernel has computed it. So all ranks agree, and a loop that waits for 0 ends.
//   all() of a comparison    The result is true, unless copied values make it false.
//   is_scalar_tensor_true    PyTorch calls this for checks such as "weights cannot be negative". The function
//                            compares the result with ones and copies one byte. Here a value that no kernel
//                            has computed is 1, so that no check raises an error.
//   all() of no elements     The result is true. PyTorch writes it with a fill kernel.
//
// PyTorch 2.4 to 2.15: CompareEQKernel.cu, CompareKernels.cu, FillKernel.cu, Equal.cpp and
// is_scalar_tensor_true of TensorSubclassLikeUtils.h in aten/src/ATen. Kernels are recognized by name. In
// other releases, some kernels may not be recognized.
#pragma once

#include <cstddef>

namespace vramscope::simulated {

// Call when the thread launches this kernel. `arguments` are the kernel's parameters, or nullptr if unknown.
void NoteComparison(const void* kernel, void* const* arguments);
// Both return true if the thread's last kernel would set a single byte to true. LastLaunchComparedTrue() is
// for comparison kernels. LastLaunchFilledTrue() is for fill kernels, which are not carried out.
bool LastLaunchComparedTrue();
bool LastLaunchFilledTrue();
// Call when the thread has copied bytes on the device.
void NoteDeviceCopy(void* to, const void* from, size_t bytes);

}  // namespace vramscope::simulated
