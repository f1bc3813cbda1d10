// SPDX-License-Identifier: Apache-2.0
// Bytes by category, and the live blocks themselves, at chosen moments.
//
// O(blocks x log moments + result).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "profiler/classify/categories.h"
#include "profiler/timeline/curve.h"

namespace vramscope::classify {

// For each of `moments`, the bytes allocated on the device after that event. `moments`: event positions in
// any order. The sums equal DeviceCurve::AllocatedAfter. Bytes whose allocation was not seen are
// unattributed.
[[nodiscard]] std::vector<CategoryBytes> UsageAt(const model::Run& run, const Categories& categories,
                                                 const timeline::DeviceCurve& curve,
                                                 std::span<const model::EventIndex> moments);

// For each of `moments`, the blocks alive on the device after that event, in order of allocation.
[[nodiscard]] std::vector<std::vector<model::BlockId>> LiveAt(const model::Run& run,
                                                              const model::Device& device,
                                                              std::span<const model::EventIndex> moments);

}  // namespace vramscope::classify
