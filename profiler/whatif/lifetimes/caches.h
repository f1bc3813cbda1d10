// SPDX-License-Identifier: Apache-2.0
// Keys and values that a model appends to a cache for generation while it trains: keys = torch.cat([nothing,
// keys]), as DynamicCache of transformers does, which is on unless the program turns it off.
//
// Why checkpoints ask: what is computed again in backward would append a second time, so a program that
// checkpoints such a module does without the cache; transformers turns it off itself.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// What the operator appends to nothing, and what that makes; kNone where it is not that.
[[nodiscard]] std::pair<uint32_t, uint32_t> AppendedToNothing(const Step& step, const Op& op);

// A cache is returned beside what the model computes: `held`, by block, is at least until then for what was
// appended.
void HoldCaches(const Step& step, std::vector<Position>& held);

// The step where in these calls (into Step::modules) nothing is appended: what was made of keys and values is
// they themselves, lies as they do, and goes behind those who use it, or whom autograd keeps it for. Nothing:
// no cache is used there.
[[nodiscard]] std::optional<Step> WithoutCaches(const Step& step, const std::vector<uint32_t>& calls);

}  // namespace vramscope::whatif
