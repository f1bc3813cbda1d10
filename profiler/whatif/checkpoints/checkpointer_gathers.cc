// SPDX-License-Identifier: Apache-2.0
// Units of fully_shard inside a segment. The recomputation gathers those whose backward has not begun, one
// after the other as forward does, and frees none of them. Their backward then uses these parameters.
//
//   segment      recompute │ unit a │ unit b ...          │ backward of b │ backward of a
//   recorded                                   gather b ├─────────────┤
//                                                          gather a ├────────────────┤
//   with it      gather a ├────────────────────────────────────────────────────────┤
//                         gather b ├──────────────────────────────────┤
//
// If a unit is the segment itself, backward has already gathered its parameters. PyTorch: pre_forward and
// post_forward in torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py, 2.15.
#include <map>

#include "profiler/whatif/checkpoints/checkpointer.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

bool IsGathered(const StepBlock& block) {
  return block.category == classify::Category::kCommunication && block.copy_of != kNone &&
         block.begin > kBefore;
}

}  // namespace

void Checkpointer::GatherWithin(Scene& scene) const {
  struct Gather {
    const StepBlock* forward = nullptr;  // nullptr: several, because the unit is called more than once
    const Segment* segment = nullptr;    // the outermost segment
    Block* backward = nullptr;           // the first one; a block for gradients may look the same
  };
  // By parameter and stream: the block that a unit's parameters arrive in is on another stream than they are.
  std::map<std::pair<BlockIndex, uint16_t>, Gather> gathers;
  for (const StepBlock& block : step_.blocks) {
    if (!IsGathered(block)) continue;
    SegmentIndex place = SegmentAt(block.begin);
    while (place != kNone && segments_[place].parent != kNone) place = segments_[place].parent;
    if (place == kNone || !IsMadeAgain(place)) continue;
    const auto [known, fresh] =
        gathers.try_emplace({block.copy_of, block.stream}, Gather{&block, &segments_[place]});
    if (!fresh) known->second.forward = nullptr;
  }
  for (Block& block : scene.blocks) {
    if (block.origin == kNone || !IsGathered(step_.blocks[block.origin])) continue;
    const StepBlock& gathered = step_.blocks[block.origin];
    const auto found = gathers.find({gathered.copy_of, gathered.stream});
    if (found == gathers.end()) continue;
    Gather& gather = found->second;
    if (gather.forward == nullptr || gather.forward == &gathered ||
        gather.forward->requested != gathered.requested || block.end <= gather.segment->recompute)
      continue;
    if (gather.backward == nullptr || block.begin < gather.backward->begin) gather.backward = &block;
  }
  for (const auto& [of, gather] : gathers)
    if (gather.backward != nullptr)
      GatherEarlier(*gather.segment, *gather.forward, of.second != step_.blocks[of.first].stream,
                    *gather.backward);
}

// `together`: all of the unit's parameters in one block. They are copied out of it at once if the backward of
// the following unit gathered it ahead.
void Checkpointer::GatherEarlier(const Segment& segment, const StepBlock& forward, bool together,
                                 Block& block) const {
  const bool ahead = block.begin <= segment.recompute;
  if (ahead && !together) return;  // its backward has begun
  const Position again = Again(segment, forward.begin);
  if (together && ahead)
    block.end = std::min(block.end, After(again));
  else if (together)
    block.end = forward.end < segment.end ? Again(segment, forward.end) : Unwound(segment);
  if (!ahead) block.begin = again;
}

}  // namespace vramscope::whatif
