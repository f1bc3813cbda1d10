// SPDX-License-Identifier: Apache-2.0
// Keys and values that a model appends to a cache for generation while it trains: keys = torch.cat([nothing,
// keys]), as DynamicCache of transformers does, which is on unless the program turns it off.
//
// Why a lever asks: what is computed again in backward would append a second time, so a program that
// checkpoints such a module does without the cache; transformers turns it off itself.
#pragma once

#include <optional>
#include <vector>

#include "profiler/whatif/scene.h"

namespace vramscope::whatif {

// The step where in these calls (into Step::modules) nothing is appended: what was made of keys and values is
// they themselves, also in the scene. Nothing: no cache is used there.
[[nodiscard]] std::optional<Step> WithoutCaches(const Step& step, const std::vector<uint32_t>& calls,
                                                Scene& scene);

}  // namespace vramscope::whatif
