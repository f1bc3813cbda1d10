// SPDX-License-Identifier: Apache-2.0
// Which halves of frees a device's history has, and which blocks wait for the second half.
//
// A free is requested (free_requested), and completes when no other stream uses the block (free_completed).
// _record_memory_history(skip_actions=...) can omit either. Without free_completed, the blocks in the
// segments show whether frees wait:
//
//   recorded                block at the end       means
//   requested, completed                           as recorded
//   requested alone         active_pending_free    the last request for this block waits
//   requested alone         anything else          completed at once
#pragma once

#include <cstdint>
#include <unordered_map>

#include "profiler/snapshot/snapshot.h"

namespace vramscope::snapshot {

class FreeHalves {
 public:
  FreeHalves() = default;
  FreeHalves(const Snapshot& snapshot, uint32_t device);

  [[nodiscard]] bool requests() const { return requests_; }
  [[nodiscard]] bool completions() const { return completions_; }
  // True if the trace must have two events per free.
  [[nodiscard]] bool apart() const { return completions_ || !waiting_.empty(); }
  // True if event `number` of the device's history is a free request that completed at once: the history has
  // no completions, and the block does not wait for one.
  [[nodiscard]] bool CompletesAtOnce(const Event& event, uint32_t number) const;

 private:
  void FindWaiting(const Snapshot& snapshot, uint32_t device);

  bool requests_ = false;
  bool completions_ = false;
  std::unordered_map<uint64_t, uint32_t> waiting_;  // address -> number of the last request for it
};

}  // namespace vramscope::snapshot
