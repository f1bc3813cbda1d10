// SPDX-License-Identifier: Apache-2.0
// Finds out which events of a free a snapshot's history contains, and which frees have not completed.
//
// A free has two events. The program requests the free (free_requested). The free completes when no other
// stream uses the block (free_completed). _record_memory_history(skip_actions=...) can omit one of the
// events. If free_completed is omitted, the state of the block at the end of the history shows whether a free
// has completed:
//
//   events in the history    state of the block     meaning
//   both                     any                    as recorded
//   only free_requested      active_pending_free    the last requested free of this block has not completed
//   only free_requested      other                  the free completed at once
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
  // True if the trace that is made from the snapshot must have two events per free.
  [[nodiscard]] bool apart() const { return completions_ || !waiting_.empty(); }
  // True if `event`, event `number` of the device's history, is a requested free that completed at once. This
  // is so if the history has no free_completed events and the free is not pending at the end.
  [[nodiscard]] bool CompletesAtOnce(const Event& event, uint32_t number) const;

 private:
  void FindWaiting(const Snapshot& snapshot, uint32_t device);

  bool requests_ = false;
  bool completions_ = false;
  std::unordered_map<uint64_t, uint32_t> waiting_;  // block address -> number of its last free_requested
};

}  // namespace vramscope::snapshot
