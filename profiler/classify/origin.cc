// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/origin.h"

#include <algorithm>

namespace vramscope::classify {

using model::BlockId;

namespace {

// The stages of a step that are comparable between light and deep steps. Their edges are hooked in both. The
// begin of forward is not an edge here, because light steps find it by other means.
enum class Stage : uint8_t { kForward, kBackward, kOptimizer };
Stage StageOf(timeline::Part part) {
  if (part == timeline::Part::kBackward) return Stage::kBackward;
  return timeline::PhaseOf(part) == timeline::Phase::kOptimizer ? Stage::kOptimizer : Stage::kForward;
}

// True if two blocks at the same position in their steps can have the same origin. They must be allocated in
// the same stage. In an optimizer, both or neither must outlive their step, because state is allocated only
// once and later steps have temporaries of the same size there.
bool AreAlike(const timeline::Training& training, const model::Block& a, const model::Block& b) {
  const Stage stage = StageOf(training.PartOf(a.thread, a.alloc_event));
  if (stage != StageOf(training.PartOf(b.thread, b.alloc_event))) return false;
  const auto outlives_step = [&](const model::Block& block) {
    const timeline::Step* step = training.StepAt(block.alloc_event);
    return step != nullptr && block.free_event > step->end;
  };
  return stage != Stage::kOptimizer || outlives_step(a) == outlives_step(b);
}

}  // namespace

Origin Origins::Of(BlockId block) {
  const model::Block& birth = run_.blocks[block];
  Origin own{birth.context, birth.stack, 0};
  if (own.context != 0) return own;
  const model::ProcessIndex process = run_.ProcessOf(birth);
  const timeline::Step* step = training_[process].StepAt(birth.alloc_event);
  if (step == nullptr || step->deep) return own;

  Key key{process, birth.device_code, step->number};
  const Likeness& likeness = LikenessOf(key);
  if (likeness.deep_step == 0) return own;
  const StepBlocks& mine = BlocksOf(key);
  key.step = likeness.deep_step;
  const StepBlocks& deep = BlocksOf(key);
  const auto place = static_cast<size_t>(std::lower_bound(mine.begin(), mine.end(), block) - mine.begin());
  const size_t from_end = mine.size() - place;
  const model::Block* twin = nullptr;
  if (place < likeness.same_from_begin) {
    twin = &run_.blocks[deep[place]];
  } else if (from_end <= likeness.same_from_end) {
    twin = &run_.blocks[deep[deep.size() - from_end]];
  }
  if (twin == nullptr || twin->context == 0 || !AreAlike(training_[process], birth, *twin)) return own;
  return {twin->context, own.stack != 0 ? own.stack : twin->stack, likeness.deep_step};
}

const Origins::StepBlocks& Origins::BlocksOf(const Key& key) {
  const auto [entry, fresh] = blocks_.try_emplace(key);
  if (!fresh) return entry->second;
  const timeline::Step& step = *training_[key.process].StepNumber(key.step);
  for (BlockId id = run_.FirstBlockFrom(step.begin);
       id < run_.blocks.size() && run_.blocks[id].alloc_event < step.end; ++id) {
    const model::Block& block = run_.blocks[id];
    if (block.device_code == key.device_code && run_.ProcessOf(block) == key.process)
      entry->second.push_back(id);
  }
  return entry->second;
}

const Origins::Likeness& Origins::LikenessOf(const Key& key) {
  const auto [entry, fresh] = likeness_.try_emplace(key);
  Likeness& best = entry->second;
  if (!fresh) return best;
  const StepBlocks& mine = BlocksOf(key);
  const timeline::Training& training = training_[key.process];
  const auto stage = [&](BlockId id) { return StageOf(training.SpanAt(run_.blocks[id].alloc_event).part); };
  const auto alike = [&](BlockId a, BlockId b) {
    return run_.blocks[a].size == run_.blocks[b].size && stage(a) == stage(b);
  };
  for (const timeline::Step& step : training.steps()) {
    if (!step.deep || !step.complete) continue;
    const StepBlocks& deep = BlocksOf({key.process, key.device_code, step.number});
    const auto begin = std::mismatch(mine.begin(), mine.end(), deep.begin(), deep.end(), alike).first;
    const auto end = std::mismatch(mine.rbegin(), mine.rend(), deep.rbegin(), deep.rend(), alike).first;
    const auto from_begin = static_cast<size_t>(begin - mine.begin());
    const auto from_end = static_cast<size_t>(end - mine.rbegin());
    if (from_begin + from_end > best.same_from_begin + best.same_from_end)
      best = {step.number, from_begin, from_end};
  }
  return best;
}

}  // namespace vramscope::classify
