// SPDX-License-Identifier: Apache-2.0
// Comparisons of one value, which are answered although no kernel computes: programs wait for them, and
// PyTorch refuses to go on by them.
//
// clang-format off
//   x == 3, x < 3, x == y    and !=, <=, >, >=, carried out: what was uploaded is compared by what it is, what a
//                            kernel would have computed is 0, so all agree and a loop that waits for a 0 ends
//   all() of such            yes, like any "are all true?" (host_reads.h), unless what was uploaded says no
//   is it true? of such      PyTorch asks so before it refuses ("weights cannot be negative", "the window is zero"):
//                            by equal(answer, ones), after which it copies one byte. Here a value that a kernel
//                            would have computed counts as 1: an ordinary value, that no check refuses
//   all() of nothing         yes: PyTorch fills in the answer
// clang-format on
//
// PyTorch 2.4 to 2.15: CompareEQKernel.cu, CompareKernels.cu, FillKernel.cu, Equal.cpp and
// is_scalar_tensor_true of TensorSubclassLikeUtils.h in aten/src/ATen. By the names of its kernels, so
// another release may only get less.
#pragma once

#include <cstddef>

namespace vramscope::simulated {

// The calling thread launches this kernel with pointers to its arguments (nullptr: not known).
void NoteComparison(const void* kernel, void* const* arguments);
// Whether that kernel left the single byte "true": as the answer of a comparison; by filling it in, which is
// not carried out.
bool LastLaunchComparedTrue();
bool LastLaunchFilledTrue();
// The thread has just copied so many bytes from device to device.
void NoteDeviceCopy(void* to, const void* from, size_t bytes);

}  // namespace vramscope::simulated
