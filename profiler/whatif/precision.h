// SPDX-License-Identifier: Apache-2.0
// A recorded step as it would be under torch.autocast: element types are followed through every operator of
// forward and backward, and the copies that conversions make are put in.
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

#include "profiler/whatif/step.h"

namespace vramscope::whatif {

inline constexpr uint8_t kFloatType = 6;      // c10::ScalarType
inline constexpr uint8_t kHalfType = 5;       // torch.float16
inline constexpr uint8_t kBfloat16Type = 15;  // torch.bfloat16

// What kernels take beside their results in the low type: attention's algorithm changes, cuDNN converts
// layouts. Fitted to the recordings of the simulated device. `low`: by block of the recorded step.
void ChangeKernels(const Step& step, const std::vector<bool>& low, Step& changed);

// The step under autocast to `low` around its forward and its loss. O(events of the step).
[[nodiscard]] Step UnderAutocast(const Step& step, uint8_t low);

}  // namespace vramscope::whatif
