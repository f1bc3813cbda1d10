// SPDX-License-Identifier: Apache-2.0
// Finds the blocks that autograd and checkpoints keep for backward, and when each block was first saved and
// last released. Also finds the beginning of each forward pass.
#pragma once

#include <unordered_map>
#include <vector>

#include "profiler/model/run.h"

namespace vramscope::model {

class SavedTensors {
 public:
  // The other functions add BlockFacts and Process::first_saves to `run`.
  explicit SavedTensors(Run& run) : run_(run), processes_(run.processes.size()) {}

  // Call when a range begins or ends. The first save after the begin or end of a backward, optimizer or data
  // loader range shows that forward is running.
  void NoteRange(trace::RangeKind kind, ProcessIndex process, EventIndex now);
  // Call for each kSaved event. `block`: the block at the event's address; nullptr if there is none.
  // `checkpoint`: id of the open checkpoint range; 0 if there is none.
  void Save(const trace::Event& event, const BlockId* block, uint64_t checkpoint, ProcessIndex process,
            EventIndex now);
  // Call when autograd releases a reference. `block`: as in Save.
  void Release(const trace::Event& event, const BlockId* block, EventIndex now);
  // Call when the checkpoint with this id is freed. This also releases the checkpoint's tensors, for which
  // autograd reports no event.
  void FreeCheckpoint(uint64_t id, ProcessIndex process, EventIndex now);

 private:
  struct Process {
    std::unordered_map<uint64_t, std::vector<BlockId>> checkpoints;  // id -> blocks saved in its ranges
    bool save_noted = false;                                         // true if a save followed last_edge
    EventIndex last_edge = 0;  // last begin or end of a backward, optimizer or data loader range
  };

  static void ReleaseOne(BlockFacts& facts, EventIndex now);

  Run& run_;
  std::vector<Process> processes_;
};

}  // namespace vramscope::model
