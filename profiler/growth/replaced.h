// SPDX-License-Identifier: Apache-2.0
// Finds a tensor that is created again in each step, larger than before.
//
//   memory = torch.cat([memory, y])      step   1    2    3    4    5
//                                        alive at its end:   1 MiB  2 MiB  3 MiB  4 MiB  5 MiB
//
// The sign is the number of bytes that are alive at the end of each step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "profiler/growth/place.h"

namespace vramscope::growth {

// By place: requested bytes that were allocated since the first step and are alive at the end of each of
// `steps`. Excludes batches, parameters, buffers, gradients and optimizer state. O(blocks until `until`).
[[nodiscard]] std::map<Place, std::vector<uint64_t>> BytesAtStepEnds(
    const classify::Analysis& analysis, const model::Device& device,
    std::span<const timeline::Step* const> steps, model::EventIndex until, classify::Origins& origins,
    Places& places);

struct Rise {
  std::vector<size_t> steps;  // 0-based: steps that end with more bytes than before
  uint64_t bytes_per_step = 0;
};

// The rise from step `first` to step `last` (0-based, included). nullopt: fewer than six steps, `bytes`
// falls, or `bytes` does not rise in each third. O(steps).
[[nodiscard]] std::optional<Rise> RiseOf(const std::vector<uint64_t>& bytes, size_t first, size_t last);

}  // namespace vramscope::growth
