// SPDX-License-Identifier: Apache-2.0
// The last steps of a run in memory, with everything that is needed to understand them.
//
// Why not just the last events: a parameter was allocated and labelled before the first step, and without
// that its bytes would be missing and nameless. What leaves the window is therefore not dropped but folded
// into what still holds:
//
//   folded away:  allocations whose blocks are gone, finished ranges and operators, counters
//   kept:         allocations of blocks that live, their labels and saved references, begun ranges and
//                 operators, the driver's allocations, coverage, losses, out-of-memory errors
//
//   ── folded ──────────────────────────┬── step n-2 ──┬── step n-1 ──┬── step n, going on ──
//   alloc weight, label weight, ...     │           everything
//
// What Events() gives is a trace like any other, only with fewer events before the window: the analysis need
// not know. Memory: 100 bytes an event of the window, some 200 a live block.
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
  // Keeps `steps` complete optimizer steps (at least 1) and the one that goes on; fewer when they have more
  // than `most_events` events. The steps are those of the first optimizer that made one.
  BlackBox(uint32_t steps, size_t most_events);

  // `process` is the number of the process that the event's thread belongs to.
  void Add(const trace::Event& event, uint32_t process);

  // Everything that is kept, in the order in which it came.
  [[nodiscard]] std::vector<trace::Event> Events() const;
  // Steps that were folded away: what Events() shows begins with the step after them.
  [[nodiscard]] uint64_t steps_before() const { return steps_before_; }

 private:
  struct Item {
    uint64_t order = 0;  // the how-manieth event it was
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
    std::vector<Item> facts;  // labels, and references that autograd has not released
  };

  [[nodiscard]] bool EndsStep(const trace::Event& event, uint32_t process);
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
  std::deque<uint64_t> step_ends_;  // orders of the events behind which a new step begins
  uint64_t steps_before_ = 0;
  bool has_leader_ = false;
  uint32_t leader_process_ = 0;
  uint64_t leader_ = 0;  // identity of the optimizer that counts

  std::unordered_map<Place, Block, PlaceHash> blocks_;
  std::unordered_map<Place, Item, PlaceHash> pool_blocks_;  // cudaMallocAsync: as many as there are tensors
  std::unordered_map<uint32_t, std::vector<Item>> open_;    // by thread: begun and not ended
  std::map<std::pair<uint32_t, uint64_t>, Item> last_of_kind_;  // coverage of a hook, a driver's total
  std::map<uint32_t, Item> deep_;                               // by process: the deep window that is open
  std::vector<Item> always_;
};

}  // namespace vramscope::collector
