// SPDX-License-Identifier: Apache-2.0
// A recorded step as it would be under torch.autocast, or with the whole model in 16 bits: element types are
// followed through every operator of forward and backward, and the copies that conversions make are put in.
//
// Why a step and not a scene: what comes after (checkpoints, batch, accumulation) asks the step which node
// keeps which block, and under autocast that is often a copy.
//
//   recorded       norm ─ h (float) ─ linear                  h is kept by linear's node
//   autocast       norm ─ h (float) ─ cast ─ h' ─ linear      h' is kept, h ends behind linear
//                  weight ─ cast ─ w'                          once, until autocast is left and backward is
//                  done
//   backward       addmm ─ g' ─ cast ─ g (float) ─ norm        where the type of a gradient is not that of
//   what
//                                                              it is a gradient of
#pragma once

#include <string_view>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

inline constexpr uint8_t kFloatType = 6;                         // c10::ScalarType
inline constexpr uint8_t kHalfType = 5;                          // torch.float16
inline constexpr uint8_t kBfloat16Type = 15;                     // torch.bfloat16
inline constexpr uint8_t kComplexType = 9;                       // torch.complex64
inline constexpr uint8_t kBoolType = 11;                         // torch.bool
inline constexpr std::string_view kFloatName = "torch.float32";  // as a program writes it

// What kernels take beside their results in the low type: attention's algorithm changes, cuDNN converts
// layouts. Fitted to the recordings of the simulated device. `low`: by block of the recorded step.
void ChangeKernels(const Step& step, const std::vector<bool>& low, Step& changed);

// The step under autocast to `low` around its forward and its loss. O(events of the step).
[[nodiscard]] Step UnderAutocast(const Step& step, uint8_t low);

// The step of a model that was converted to `low`, with its buffers, before its optimizer was made, and whose
// loop hands it floats in that type. Where the program itself computes in float32, as norms written in Python
// do, it still does. O(events of the step).
[[nodiscard]] Step AllInLow(const Step& step, uint8_t low);

// Why element types of the step cannot be followed, as one sentence; "" when they can. `what` is to be
// predicted: "mixed precision".
[[nodiscard]] std::string WhyNotRetyped(const Step& step, std::string_view what);
// " in blocks.0.attn", the innermost call of a module at that moment; "" outside of all.
[[nodiscard]] std::string InModule(const Step& step, Position at);
// Of the first batch norm that is given a transposed tensor which `changed`, the same step, has in 16 bits;
// "" without one.
[[nodiscard]] std::string WhyOtherNorm(const Step& step, const Step& changed);

}  // namespace vramscope::whatif
