// SPDX-License-Identifier: Apache-2.0
// Finds the live blocks of a device at any moment, and the total numbers of allocations and frees, without
// reading all earlier blocks.
//
// The viewer needs these blocks up to sixty times a second. A run has millions of blocks, of which about a
// thousand are alive at one moment. So the index stores the live blocks at checkpoints. To answer for a
// moment, it takes the last checkpoint and applies the changes after it.
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
  // `run` must outlive this object. The constructor reads the device's changes once.
  LiveIndex(const model::Run& run, model::DeviceIndex device);

  // Returns the blocks that are alive after `event`, in order of allocation, as classify::LiveAt does.
  [[nodiscard]] std::vector<model::BlockId> At(model::EventIndex event) const;

  // Total numbers of allocations and frees from the begin of the run until after an event.
  struct Totals {
    uint64_t allocations = 0;
    uint64_t allocated = 0;  // allocated bytes
    uint64_t frees = 0;
    uint64_t freed = 0;
  };
  [[nodiscard]] Totals Until(model::EventIndex event) const;

 private:
  // The minimum number of changes between two checkpoints. The number is higher if the checkpoints would take
  // more memory than the changes.
  static constexpr size_t kLeastStride = 8192;
  static constexpr size_t kStridePerBlock = 2;

  struct Checkpoint {
    size_t changes = 0;  // number of changes before the checkpoint
    Totals totals;
    size_t first_live = 0;  // index in live_; the list ends where the next checkpoint's list begins
  };
  [[nodiscard]] size_t ChangesUntil(model::EventIndex event) const;
  // Returns the last checkpoint that has at most `changes` changes before it.
  [[nodiscard]] size_t CheckpointBefore(size_t changes) const;
  void Count(const model::Change& change, Totals& totals) const;
  // Appends to `live` the blocks that are alive after `event`.
  void Collect(size_t checkpoint, size_t changes, model::EventIndex event,
               std::vector<model::BlockId>& live) const;

  const model::Run& run_;
  const model::Device& device_;
  std::vector<Checkpoint> checkpoints_;
  std::vector<model::BlockId> live_;
};

}  // namespace vramscope::viewer
