// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/saved_tensors.h"

#include <algorithm>

namespace vramscope::model {

using trace::Event;
using trace::RangeKind;

void SavedTensors::NoteRange(RangeKind kind, ProcessIndex process, EventIndex now) {
  if (kind != RangeKind::kBackward && kind != RangeKind::kOptimizer && kind != RangeKind::kDataLoader) return;
  processes_[process].save_noted = false;
  processes_[process].last_edge = now;
}

void SavedTensors::Save(const Event& event, const BlockId* block, uint64_t checkpoint, ProcessIndex process,
                        EventIndex now) {
  Process& state = processes_[process];
  if (!state.save_noted) {
    state.save_noted = true;
    // A saved output was allocated by the op that saves it, so forward was already running then.
    const bool is_output = event.field[trace::saved::kIsOutput] != 0 && block != nullptr;
    const EventIndex shown = is_output ? run_.blocks[*block].alloc_event : now;
    run_.processes[process].first_saves.push_back(std::max(shown, state.last_edge));
  }
  if (event.field[trace::saved::kAddress] == 0) return;
  if (block == nullptr) {
    ++run_.anomalies.saves_without_block;
    return;
  }
  BlockFacts& facts = run_.MakeFacts(*block);
  ++facts.saved_now;
  facts.released = kNever;
  facts.first_saved = std::min(facts.first_saved, now);
  if (checkpoint != 0) state.checkpoints[checkpoint].push_back(*block);
}

void SavedTensors::Release(const Event& event, const BlockId* block, EventIndex now) {
  if (event.field[trace::saved::kAddress] == 0) return;
  const uint32_t index = block == nullptr ? kNone : run_.blocks[*block].facts;
  if (index == kNone || run_.facts[index].saved_now == 0) {
    ++run_.anomalies.releases_without_save;
    return;
  }
  ReleaseOne(run_.facts[index], now);
}

void SavedTensors::FreeCheckpoint(uint64_t id, ProcessIndex process, EventIndex now) {
  const auto kept = processes_[process].checkpoints.extract(id);
  if (kept.empty()) return;
  for (const BlockId block : kept.mapped()) {
    if (run_.blocks[block].free_event == kNever) ReleaseOne(run_.facts[run_.blocks[block].facts], now);
  }
}

void SavedTensors::ReleaseOne(BlockFacts& facts, EventIndex now) {
  if (facts.saved_now != 0 && --facts.saved_now == 0) facts.released = now;
}

}  // namespace vramscope::model
