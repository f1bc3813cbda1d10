// SPDX-License-Identifier: Apache-2.0
#include "profiler/growth/replaced.h"

#include <algorithm>
#include <utility>

#include "profiler/growth/growth.h"

namespace vramscope::growth {
namespace {

using classify::Category;
using model::BlockId;
using model::EventIndex;
using Steps = std::span<const timeline::Step* const>;

// False for blocks that are always long-lived, which are not growth, and for batches, whose size follows the
// data. An input that autograd did not save, but that is alive in backward, may be no batch: it may grow.
bool MayGrow(const classify::Stretch& use) {
  switch (use.category) {
    case Category::kParameter:
    case Category::kBuffer:
    case Category::kGradient:
    case Category::kOptimizerState:
      return false;
    case Category::kInput:
      return use.proof == classify::Proof::kPreparedAndAliveInBackward;
    default:
      return true;
  }
}

// The first step that ends after the event.
size_t StepEndingAfter(Steps steps, EventIndex event) {
  const auto found = std::partition_point(steps.begin(), steps.end(),
                                          [&](const timeline::Step* step) { return step->end <= event; });
  return static_cast<size_t>(found - steps.begin());
}

}  // namespace

std::map<Place, std::vector<uint64_t>> BytesAtStepEnds(const classify::Analysis& analysis,
                                                       const model::Device& device, Steps steps,
                                                       EventIndex until, classify::Origins& origins,
                                                       Places& places) {
  const model::Run& run = analysis.run();
  std::map<Place, std::vector<uint64_t>> all;  // changes at the end of each step; summed up below
  const BlockId first_of_all = run.FirstBlockFrom(steps.front()->begin);
  size_t first = 0;  // the first step that ends after the block's allocation
  for (BlockId id = first_of_all; id < run.blocks.size() && run.blocks[id].alloc_event <= until; ++id) {
    const model::Block& block = run.blocks[id];
    if (block.device_code != device.code || run.ProcessOf(block) != device.process) continue;
    while (first < steps.size() && steps[first]->end <= block.alloc_event) ++first;
    if (first == steps.size()) break;                    // blocks are in the order of their allocations
    if (block.free_event < steps[first]->end) continue;  // most blocks are freed within a step
    const size_t beyond = StepEndingAfter(steps, block.free_event);
    if (!MayGrow(analysis.categories().At(id, steps[first]->end - 1))) continue;
    std::vector<uint64_t>& changes = all[places.Of(id, origins.Of(id), Keeper::kReplaced)];
    changes.resize(steps.size() + 1);
    changes[first] += block.Requested();
    changes[beyond] -= block.Requested();  // may wrap around, which the sums below undo
  }
  for (auto& [place, bytes] : all) {
    for (size_t step = 1; step < steps.size(); ++step) bytes[step] += bytes[step - 1];
    bytes.resize(steps.size());
  }
  return all;
}

std::optional<Rise> RiseOf(const std::vector<uint64_t>& bytes, size_t first, size_t last) {
  constexpr size_t kFewestRises = 3;
  // The bytes of random batches can rise from step to step by chance. For six steps the probability is 1 in
  // 720.
  constexpr size_t kFewestTurns = 5;
  if (last >= bytes.size() || last < first + kFewestTurns) return std::nullopt;
  Rise rise;
  bool in_third[3] = {};
  for (size_t step = first + 1; step <= last; ++step) {
    if (bytes[step] < bytes[step - 1]) return std::nullopt;
    if (bytes[step] == bytes[step - 1]) continue;
    rise.steps.push_back(step);
    in_third[3 * (step - first - 1) / (last - first)] = true;
  }
  if (rise.steps.size() < kFewestRises || !in_third[0] || !in_third[1] || !in_third[2]) return std::nullopt;
  rise.bytes_per_step = (bytes[last] - bytes[first]) / (last - first);
  return rise;
}

}  // namespace vramscope::growth
