// SPDX-License-Identifier: Apache-2.0
// Finds a device's blocks at a moment, and the totals until then, without reading all earlier blocks.
//
// Views follow the moment sixty times a second. A run has millions of blocks, of which a thousand are alive.
// Checkpoints store the live blocks. A moment is the last checkpoint plus the changes since.
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

  // The blocks alive after that event, in order of allocation (as classify::LiveAt).
  [[nodiscard]] std::vector<model::BlockId> At(model::EventIndex event) const;

  // Allocations and frees from the run's start until after an event.
  struct Totals {
    uint64_t allocations = 0;
    uint64_t allocated = 0;  // bytes
    uint64_t frees = 0;
    uint64_t freed = 0;
  };
  [[nodiscard]] Totals Until(model::EventIndex event) const;

 private:
  // The minimum number of changes between two checkpoints. Higher if copies would take more memory than the
  // changes.
  static constexpr size_t kLeastStride = 8192;
  static constexpr size_t kStridePerBlock = 2;

  struct Checkpoint {
    size_t changes = 0;  // before it
    Totals totals;
    size_t first_live = 0;  // into live_; up to the next checkpoint's
  };
  [[nodiscard]] size_t ChangesUntil(model::EventIndex event) const;
  // The last checkpoint with at most `changes` changes before it.
  [[nodiscard]] size_t CheckpointBefore(size_t changes) const;
  void Count(const model::Change& change, Totals& totals) const;
  // Appends the blocks alive after `event`.
  void Collect(size_t checkpoint, size_t changes, model::EventIndex event,
               std::vector<model::BlockId>& live) const;

  const model::Run& run_;
  const model::Device& device_;
  std::vector<Checkpoint> checkpoints_;
  std::vector<model::BlockId> live_;
};

}  // namespace vramscope::viewer
