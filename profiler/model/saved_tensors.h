// SPDX-License-Identifier: Apache-2.0
// The blocks that autograd and checkpoints keep for backward. Finds the first and last reference to each
// block, and the begin of each forward.
#pragma once

#include <unordered_map>
#include <vector>

#include "profiler/model/run.h"

namespace vramscope::model {

class SavedTensors {
 public:
  // Adds facts of blocks and first saves of processes to `run`.
  explicit SavedTensors(Run& run) : run_(run), processes_(run.processes.size()) {}

  // Call when a range of this kind begins or ends. After a backward, optimizer or data range, the next save
  // means that forward runs.
  void NoteRange(trace::RangeKind kind, ProcessIndex process, EventIndex now);
  // A kSaved event. `block`: the block at its address, or nullptr. `checkpoint`: the id of the open
  // checkpoint range, or 0.
  void Save(const trace::Event& event, const BlockId* block, uint64_t checkpoint, ProcessIndex process,
            EventIndex now);
  void Release(const trace::Event& event, const BlockId* block, EventIndex now);
  // Call when the checkpoint with this id is freed. The checkpoint's tensors are released with it, without an
  // event from autograd.
  void FreeCheckpoint(uint64_t id, ProcessIndex process, EventIndex now);

 private:
  struct Process {
    std::unordered_map<uint64_t, std::vector<BlockId>> checkpoints;  // id -> blocks saved in its ranges
    bool save_noted = false;                                         // since last_edge
    EventIndex last_edge = 0;  // begin or end of a backward, optimizer or data range
  };

  static void ReleaseOne(BlockFacts& facts, EventIndex now);

  Run& run_;
  std::vector<Process> processes_;
};

}  // namespace vramscope::model
