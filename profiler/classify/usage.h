// SPDX-License-Identifier: Apache-2.0
// Computes the bytes by category, and lists the live blocks, at given moments of a run.
//
// Both functions take O(blocks x log moments + size of the result).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "profiler/classify/categories.h"
#include "profiler/timeline/curve.h"

namespace vramscope::classify {

// Returns, for each of `moments`, the bytes by category that are allocated on the device after that event.
// `moments` are event positions in any order. The sum of the categories equals DeviceCurve::AllocatedAfter.
// If the allocation of a block was not recorded, its bytes are unattributed.
[[nodiscard]] std::vector<CategoryBytes> UsageAt(const model::Run& run, const Categories& categories,
                                                 const timeline::DeviceCurve& curve,
                                                 std::span<const model::EventIndex> moments);

// Returns, for each of `moments`, the blocks that are alive on the device after that event, in order of
// allocation.
[[nodiscard]] std::vector<std::vector<model::BlockId>> LiveAt(const model::Run& run,
                                                              const model::Device& device,
                                                              std::span<const model::EventIndex> moments);

}  // namespace vramscope::classify
