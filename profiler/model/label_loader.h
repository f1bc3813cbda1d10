// SPDX-License-Identifier: Apache-2.0
// Adds the labels of blocks to a run. Drops repeated labels.
#pragma once

#include <vector>

#include "profiler/model/live_blocks.h"
#include "profiler/model/run.h"

namespace vramscope::model {

class LabelLoader {
 public:
  // `run` must already have all its threads.
  explicit LabelLoader(Run& run) : run_(run), accumulating_(run.threads.size()) {}

  // Adds the label in `event`, a kLabel. `live`: the live blocks of `process`.
  void Add(const trace::Event& event, LiveBlocks& live, ProcessIndex process, EventIndex now);

 private:
  void NoteVariable(ThreadIndex thread, Label& label);
  // Sets Label::block. Returns false if the label is not to be kept.
  bool FindBlock(uint64_t address, LiveBlocks& live, ProcessIndex process, Label& label);
  [[nodiscard]] bool AlreadySaid(const BlockFacts& facts, const Label& label);

  Run& run_;
  std::vector<uint64_t> accumulating_;  // by thread: the variable whose gradient gets the next label
  FlatMap said_;  // (block, role, name, tensor) of labels on blocks that have many labels
};

}  // namespace vramscope::model
