// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/kept.h"

#include <algorithm>

#include "profiler/classify/weight_copies.h"

namespace vramscope::classify {
namespace {

using model::Block;
using model::BlockId;

// True if the trace shows whether the block is kept: it contains the step after the allocation's step.
bool IsDecided(const Birth& birth) { return birth.next_step_end != model::kNever; }

}  // namespace

Kept::Kept(const model::Run& run, std::span<const timeline::Training> training)
    : run_(run), weight_copies_(FindWeightCopies(run, training)) {
  Births births(run, training);
  for (BlockId id = 0; id < run.blocks.size(); ++id) {
    const Block& block = run.blocks[id];
    const Birth birth = births.Of(block);
    if (birth.part != timeline::Part::kPrepare || birth.before_first_step || !IsDecided(birth)) continue;
    Seen& seen = seen_[KeyOf(block)];
    (block.free_event >= birth.next_step_end ? seen.kept : seen.freed).Add(birth.step);
  }
}

Kept::Key Kept::KeyOf(const Block& block) const {
  return {run_.ProcessOf(block), block.device_code, block.Requested(), block.stack};
}

bool Kept::IsWeightCopy(BlockId id) const {
  return std::binary_search(weight_copies_.begin(), weight_copies_.end(), id);
}

bool Kept::ForGood(BlockId id, const Birth& birth) const {
  if (birth.part != timeline::Part::kPrepare) return false;
  if (IsWeightCopy(id)) return true;
  const Block& block = run_.blocks[id];
  const auto found = seen_.find(KeyOf(block));
  if (found == seen_.end()) return false;
  const Seen& seen = found->second;
  if (seen.kept.count < 2) return false;
  if (IsDecided(birth)) return block.free_event >= birth.next_step_end && seen.kept.count >= seen.freed.count;
  return seen.freed.count == 0;
}

}  // namespace vramscope::classify
