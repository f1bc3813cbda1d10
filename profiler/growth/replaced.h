// SPDX-License-Identifier: Apache-2.0
// Finds growth by replacement: in each step, the program replaces a tensor with a larger one.
//
//   memory = torch.cat([memory, y])      step                   1      2      3      4      5
//                                        alive at its end   1 MiB  2 MiB  3 MiB  4 MiB  5 MiB
//
// Growth by replacement is found from the bytes that are alive at the end of each step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "profiler/growth/place.h"

namespace vramscope::growth {

// Returns, for each place of the program (place.h), the requested bytes that are alive at the end of each of
// `steps`. Only blocks that were allocated since the first step count. Batches, parameters, buffers,
// gradients and optimizer state do not count. O(blocks until `until`).
[[nodiscard]] std::map<Place, std::vector<uint64_t>> BytesAtStepEnds(
    const classify::Analysis& analysis, const model::Device& device,
    std::span<const timeline::Step* const> steps, model::EventIndex until, classify::Origins& origins,
    Places& places);

struct Rise {
  std::vector<size_t> steps;    // 0-based numbers of the steps that end with more bytes than the step before
  uint64_t bytes_per_step = 0;  // average
};

// Returns how `bytes` rises from step `first` to step `last` (0-based, inclusive). `bytes`: bytes that are
// alive at the end of each step. Returns nullopt if there are fewer than six steps, if `bytes` falls
// anywhere, or if `bytes` does not rise in each third of the steps. O(steps).
[[nodiscard]] std::optional<Rise> RiseOf(const std::vector<uint64_t>& bytes, size_t first, size_t last);

}  // namespace vramscope::growth
