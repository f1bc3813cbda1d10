// SPDX-License-Identifier: Apache-2.0
// Comparisons of one value. Comparisons are answered although no kernel computes: programs wait for them, and
// PyTorch's checks depend on them.
//
//   x == 3, x < 3, x == y    and !=, <=, >, >=: computed. Uploaded values are compared as they are. A value
//                            that a kernel would have computed is 0, so all agree, and a loop that waits for
//                            a 0 ends
//   all() of such            true, like any "are all true?" (host_reads.h), unless the uploaded values
//                            make it false
//   is it true? of such      PyTorch checks this before it raises an error ("weights cannot be negative",
//                            "the window is zero"), by equal(answer, ones), after which it copies one byte.
//                            Here a value that a kernel would have computed counts as 1: an ordinary value
//                            that no check refuses
//   all() of nothing         true: PyTorch fills in the answer
//
// PyTorch 2.4 to 2.15: CompareEQKernel.cu, CompareKernels.cu, FillKernel.cu, Equal.cpp and
// is_scalar_tensor_true of TensorSubclassLikeUtils.h in aten/src/ATen. Kernels are recognized by name;
// another release may have fewer answers.
#pragma once

#include <cstddef>

namespace vramscope::simulated {

// Call when the thread launches this kernel with these pointers (nullptr: not known).
void NoteComparison(const void* kernel, void* const* arguments);
// True if the thread's last kernel sets a single byte to "true": by a comparison (first function), or by a
// fill, which is not carried out (second function).
bool LastLaunchComparedTrue();
bool LastLaunchFilledTrue();
// Call when the thread has copied bytes on the device.
void NoteDeviceCopy(void* to, const void* from, size_t bytes);

}  // namespace vramscope::simulated
