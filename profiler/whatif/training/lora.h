// SPDX-License-Identifier: Apache-2.0
// A recorded step as it would be with LoRA: linear layers are frozen, and beside each of them two small
// matrices are trained.
//
//   forward    x ─ linear ───────────▶ y0 ─┐
//              x ─ down ─▶ h ─ up ─▶ u ────┴ add ─▶ y       h is kept for up, x for down
//   backward   y's gradient: up, down, and the linear layer, whose input's gradient is added to down's
//
// Why as operators of the step: what is frozen then follows from autograd's rules (freeze.h), and another
// batch, autocast or checkpoints from theirs.
#pragma once

#include <vector>

#include "profiler/whatif/step/step.h"
#include "profiler/whatif/training/linears.h"

namespace vramscope::whatif {

// `linears`: one call of each module. `uncalled`: layers that the step does not call, whose matrices are
// there alone. Everything that the recorded step trains is frozen. O(events of the step).
[[nodiscard]] Step WithLora(const Step& step, const std::vector<LinearCall>& linears,
                            const std::vector<LinearCall>& uncalled, uint32_t rank);

}  // namespace vramscope::whatif
