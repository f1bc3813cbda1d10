// SPDX-License-Identifier: Apache-2.0
// A tensor that is made anew in each step, larger than before, in the place of the one before.
//
//   memory = torch.cat([memory, y])      step   1    2    3    4    5
//                                        at its end, alive:  1 MiB  2 MiB  3 MiB  4 MiB  5 MiB
//
// Why apart from survivors: only the last such tensor is alive at the end, so as far as survivors tell it was
// made once. What the place has at the ends of the steps tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "profiler/growth/place.h"

namespace vramscope::growth {

// Bytes that were asked for and are there at the end of each of `steps`, by the place that made them since
// the first one. Without what lasts by its nature, and without batches, which are as large as the data.
// O(blocks until `until`).
[[nodiscard]] std::map<Place, std::vector<uint64_t>> BytesAtStepEnds(
    const classify::Analysis& analysis, const model::Device& device,
    std::span<const timeline::Step* const> steps, model::EventIndex until, classify::Origins& origins,
    Places& places);

struct Rise {
  std::vector<size_t> steps;  // from 0: those at whose end more is there than at the end of the one before
  uint64_t bytes_per_step = 0;
};

// Nothing unless `bytes` never falls from step `first` to step `last` (from 0, both judged) and rises in each
// third of them, three times or more; and unless six steps are judged at least. O(steps).
[[nodiscard]] std::optional<Rise> RiseOf(const std::vector<uint64_t>& bytes, size_t first, size_t last);

}  // namespace vramscope::growth
