// SPDX-License-Identifier: Apache-2.0
// Finds a tensor that is created again in each step, larger than before, and replaces the previous one.
//
//   memory = torch.cat([memory, y])      step   1    2    3    4    5
//                                        at its end, alive:  1 MiB  2 MiB  3 MiB  4 MiB  5 MiB
//
// Why survivors.h cannot find it: only the last of these tensors is alive at the end, so it counts as one
// survivor. Instead, it is found by the bytes that are alive at the end of each step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "profiler/growth/place.h"

namespace vramscope::growth {

// The requested bytes that were allocated since the first step and are alive at the end of each of `steps`,
// by the place that allocated them. Excludes blocks that are always long-lived, and batches, whose size
// follows the data. O(blocks until `until`).
[[nodiscard]] std::map<Place, std::vector<uint64_t>> BytesAtStepEnds(
    const classify::Analysis& analysis, const model::Device& device,
    std::span<const timeline::Step* const> steps, model::EventIndex until, classify::Origins& origins,
    Places& places);

struct Rise {
  std::vector<size_t> steps;  // 0-based: steps that end with more bytes than the step before
  uint64_t bytes_per_step = 0;
};

// The rise from step `first` to step `last` (0-based, both included). nullopt if there are fewer than six
// steps, if `bytes` ever falls, or if it rises fewer than three times, or not in each third of the steps.
// O(steps).
[[nodiscard]] std::optional<Rise> RiseOf(const std::vector<uint64_t>& bytes, size_t first, size_t last);

}  // namespace vramscope::growth
