// SPDX-License-Identifier: Apache-2.0
// Biases that linear layers add in new memory where their checkpoint keeps results of operators.
//
// Why: such a checkpoint runs its module under a dispatch mode, in which PyTorch changes nothing in place
// that another class of tensors could stand for (isTensorSubclassLike in
// aten/src/ATen/TensorSubclassLikeUtils.h). Of input with gaps linear() multiplies and adds one after the
// other (aten/src/ATen/native/Linear.cpp):
//
//   recorded   mm ━━ add_ ━━━━━━━━━━━━━━▶        one block
//   then       mm ━━━━━━━┓ linear ends           kept, where products are
//                    add ━━━━━━━━━━━━━━━▶        in its place
#pragma once

#include <optional>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// The step where these calls (into Step::modules) run so. Nothing: none of their linear layers adds in place.
[[nodiscard]] std::optional<Step> WithBiasesApart(const Step& step, const std::vector<uint32_t>& calls);

}  // namespace vramscope::whatif
