// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/categories.h"

#include <algorithm>

#include "profiler/classify/births.h"
#include "profiler/classify/block_rules.h"
#include "profiler/classify/kept.h"
#include "profiler/classify/leaves.h"

namespace vramscope::classify {

using model::BlockId;
using model::EventIndex;

const Stretch& Life::At(EventIndex at) const {
  size_t i = size_ - 1;
  while (i > 0 && stretches_[i].begin > at) --i;
  return stretches_[i];
}

void Life::Add(const Stretch& stretch) {
  while (size_ > 0 && stretches_[size_ - 1].begin >= stretch.begin) --size_;
  stretches_[size_++] = stretch;
}

Categories::Categories(const model::Run& run, std::span<const timeline::Training> training) : run_(run) {
  const Leaves leaves(run, training);
  Births births(run, training);
  Kept kept(run, training);
  first_.reserve(run.blocks.size());
  for (BlockId id = 0; id < run.blocks.size(); ++id) {
    if (id % kGroup == 0) later_of_.push_back(static_cast<uint32_t>(later_.size()));
    Birth birth = births.Of(run.blocks[id]);
    birth.kept = kept.ForGood(id, birth);
    birth.weight_copy = kept.IsWeightCopy(id);
    const Life life = Classify(run, run.blocks[id], birth, leaves);
    first_.push_back({life[0].category, life[0].proof, life.size() > 1});
    for (size_t i = 1; i < life.size(); ++i) later_.push_back({id, life[i]});
  }
  later_of_.push_back(static_cast<uint32_t>(later_.size()));
}

Life Categories::Of(BlockId block) const {
  Life life;
  const First& first = first_[block];
  life.Add({run_.blocks[block].alloc_event, first.category, first.proof});
  if (!first.goes_on) return life;
  const size_t group = block / kGroup;
  auto later = std::lower_bound(later_.begin() + later_of_[group], later_.begin() + later_of_[group + 1],
                                block, [](const Later& entry, BlockId id) { return entry.block < id; });
  for (; later != later_.end() && later->block == block; ++later) life.Add(later->stretch);
  return life;
}

}  // namespace vramscope::classify
