// SPDX-License-Identifier: Apache-2.0
// Which blocks a device has at a moment, and how much came and went until then, without a look at all blocks
// before it.
//
// Why: a table, a flame graph and a summary follow the moment while it is played or dragged, sixty times a
// second, and a long run has millions of blocks of which a thousand are alive. At every checkpoint the live
// ones are kept; a moment is the last checkpoint before it and the changes since.
//
//   changes  ────────┬──────────────────┬─────────────────┬───────►
//   live           900 ids           1,100 ids          900 ids
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/model/run.h"

namespace vramscope::viewer {

class LiveIndex {
 public:
  // `run` must outlive it. One pass over the device's changes.
  LiveIndex(const model::Run& run, model::DeviceIndex device);

  // The blocks alive after that event, in order of allocation: what classify::LiveAt finds.
  [[nodiscard]] std::vector<model::BlockId> At(model::EventIndex event) const;

  // What came and went from the begin of the run until after an event.
  struct Totals {
    uint64_t allocations = 0;
    uint64_t allocated = 0;  // bytes
    uint64_t frees = 0;
    uint64_t freed = 0;
  };
  [[nodiscard]] Totals Until(model::EventIndex event) const;

 private:
  // Of changes between two checkpoints: at least these, and more where copies would take more memory than the
  // changes themselves.
  static constexpr size_t kLeastStride = 8192;
  static constexpr size_t kStridePerBlock = 2;

  struct Checkpoint {
    size_t changes = 0;  // before it
    Totals totals;
    size_t first_live = 0;  // into live_; until that of the next checkpoint
  };
  [[nodiscard]] size_t ChangesUntil(model::EventIndex event) const;
  // Index of the last one with no more changes before it.
  [[nodiscard]] size_t CheckpointBefore(size_t changes) const;
  void Count(const model::Change& change, Totals& totals) const;
  // Appends the blocks of `checkpoint` and of the changes up to `changes` that are alive after `event`.
  void Collect(size_t checkpoint, size_t changes, model::EventIndex event,
               std::vector<model::BlockId>& live) const;

  const model::Run& run_;
  const model::Device& device_;
  std::vector<Checkpoint> checkpoints_;
  std::vector<model::BlockId> live_;
};

}  // namespace vramscope::viewer
