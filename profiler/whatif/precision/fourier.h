// SPDX-License-Identifier: Apache-2.0
// Fourier transforms of tensors in bfloat16, as PyTorch 2.15 computes them on the device
// (aten/src/ATen/native/cuda/SpectralOps.cpp): autocast leaves them what they are given, and cuFFT takes 16
// bits for lengths that are powers of two alone.
//
//   rfft, 128 long    complex numbers of 2 x 16 bits ── at its end converted to 2 x 32
//   rfft, 34 long     its operand is converted to float32 first
//
// Either way what comes out, and the gradient that comes back, is in float32.
#pragma once

#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Whether the operator is one, of real numbers.
[[nodiscard]] bool IsTransform(const Step& step, const Op& op);

// Its operand when it has to be in float32 first; nullptr: it has not. Asked when it begins.
[[nodiscard]] const Operand* WidenedForTransform(const Step& step, const Op& op, const Versions& versions);

// When an operator of forward or backward ends: types of complex numbers.
void EndTransform(const Step& step, const Op& op, uint8_t low, Versions& versions);

}  // namespace vramscope::whatif
