// SPDX-License-Identifier: Apache-2.0
// Keeps the events of the last steps of a run in memory (the window). Also keeps the earlier events that are
// needed to understand the window.
//
// An event that becomes older than the window is dropped, unless the state that it describes is still valid:
//
//   dropped:   allocations whose blocks are freed, finished ranges and operators, counters
//   stays:     allocations of live blocks, their labels and saved references, ranges and operators that
//              have not ended, the driver's allocations, coverage, lost events, out-of-memory errors
//
//   ── dropped or stays ────────────────┬── step n-2 ──┬── step n-1 ──┬── step n, not complete ──
//   alloc weight, label weight, ...     │           everything
//
// The events of Events() form an ordinary trace that has fewer events before the window. Memory: 100 bytes
// per event in the window, about 200 bytes per live block.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace_format/event.h"

namespace vramscope::collector {

class BlackBox {
 public:
  // Keeps `steps` complete optimizer steps (at least 1) and the current step, but at most `most_events`
  // events. Steps are counted by the first optimizer that completed a step.
  BlackBox(uint32_t steps, size_t most_events);

  // `process` is the number of the process that the event's thread belongs to.
  void Add(const trace::Event& event, uint32_t process);

  // Returns the kept events, in order of arrival.
  [[nodiscard]] std::vector<trace::Event> Events() const;
  // Number of steps before the first step of Events().
  [[nodiscard]] uint64_t steps_before() const { return steps_before_; }
  // Number of complete steps.
  [[nodiscard]] uint64_t steps_done() const { return steps_before_ + step_ends_.size(); }
  // For each process: like steps_before(), but counted by the first optimizer of that process.
  [[nodiscard]] std::map<uint32_t, uint64_t> steps_before_of() const;

 private:
  struct Item {
    uint64_t order = 0;  // 0-based number of the event
    uint32_t process = 0;
    trace::Event event;
  };
  using Place = std::pair<uint32_t, uint64_t>;  // process, address
  struct PlaceHash {
    size_t operator()(const Place& place) const {
      return (place.second ^ uint64_t{place.first} << 48) * 0x9e3779b97f4a7c15 >> 16;
    }
  };
  struct Block {
    Item alloc;
    std::vector<Item> facts;  // labels, and saved references that autograd has not released
  };

  [[nodiscard]] bool EndsStep(const trace::Event& event, uint32_t process);
  // The Fold functions drop or keep the oldest event, which leaves the window.
  void FoldOldest();
  void Fold(const Item& item);
  void FoldFact(const Item& item);
  void FoldRelease(const Item& item);
  void FoldDriver(const Item& item);
  void FoldMark(const Item& item);
  void Begin(const Item& item) { open_[item.event.thread].push_back(item); }
  void End(const Item& item, trace::EventType begin);

  uint32_t steps_;
  size_t most_events_;
  uint64_t next_order_ = 0;
  std::deque<Item> window_;
  std::deque<uint64_t> step_ends_;  // order of the first event after each step
  uint64_t steps_before_ = 0;
  bool has_leader_ = false;
  uint32_t leader_process_ = 0;
  uint64_t leader_ = 0;  // identity of the optimizer that counts the steps

  std::unordered_map<Place, Block, PlaceHash> blocks_;
  std::unordered_map<Place, Item, PlaceHash> pool_blocks_;  // cudaMallocAsync: as many as there are tensors
  // By thread: ranges and operators that have begun and not ended.
  std::unordered_map<uint32_t, std::vector<Item>> open_;
  // The latest coverage of each hook, and the latest total of each kind from the driver.
  std::map<std::pair<uint32_t, uint64_t>, Item> last_of_kind_;
  std::map<uint32_t, Item> deep_;  // by process: begin of the deep step that has not ended
  std::vector<Item> always_;
  struct Folded {
    uint64_t optimizer = 0;
    uint64_t steps = 0;
  };
  std::map<uint32_t, Folded> folded_;  // by process
};

}  // namespace vramscope::collector
