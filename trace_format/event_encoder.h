// SPDX-License-Identifier: Apache-2.0
// Encodes events into the payload of an event block.
//
// Each field is added to its column at once. Therefore the events of an unfinished block are in memory only
// once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace_format/bytes.h"
#include "trace_format/column_set.h"
#include "trace_format/event.h"
#include "trace_format/event_columns.h"
#include "trace_format/live_set.h"
#include "trace_format/repeat_finder.h"

namespace vramscope::trace {

class EventEncoder {
 public:
  // `live`: the live blocks of the trace. The encoder looks up allocations in `live`, which must outlive the
  // encoder.
  explicit EventEncoder(const LiveSet& live) : live_(live) {}

  // `process`: the process of the event's thread. `allocs_before`: number of earlier kAlloc events of the
  // trace. Call before the event is applied to the live set.
  void Add(const Event& event, uint32_t process, uint64_t allocs_before);

  size_t count() const { return types_.size(); }
  uint64_t first_time_ns() const { return first_time_ns_; }
  uint64_t last_time_ns() const { return last_time_ns_; }
  uint64_t first_alloc() const { return first_alloc_; }

  // Returns the payload of all events since the last Finish, and empties the encoder.
  Bytes Finish();

 private:
  struct FieldColumn {
    std::vector<uint64_t> values;
    std::vector<uint64_t> literals;  // literals of kReference and kRepeat
    RepeatFinder repeats;            // used by kRepeat
    uint64_t previous = 0;           // previous value for kDelta, or previous literal
    uint64_t any_bits = 0;           // bitwise OR of the field's values; 0 = the column is not written
  };
  using TypeColumns = std::array<FieldColumn, kMaxEventFields>;
  struct BlockThread {
    uint32_t thread;
    uint32_t process;
  };

  void WriteBlockColumns();
  void WriteColumnsOf(size_t type);
  void AddTime(uint64_t time_ns);
  size_t PlaceOfThread(uint32_t thread, uint32_t process);
  // Returns the allocation that the event refers to; nullptr if it is not in this event block.
  const LiveBlock* Referred(const Event& event, uint32_t process) const;
  uint64_t Residual(const Event& event, size_t field, const LiveBlock* referred,
                    RunningTotals::Slot& running);
  void Clear();

  const LiveSet& live_;
  std::vector<uint64_t> types_;
  std::vector<uint64_t> times_;
  std::vector<uint64_t> thread_places_;
  std::vector<BlockThread> threads_;
  size_t last_place_ = 0;
  std::array<TypeColumns, kEventTypeCount> columns_;
  RunningTotals totals_;
  uint64_t allocs_before_ = 0;
  uint64_t first_alloc_ = 0;
  uint64_t first_time_ns_ = 0;
  uint64_t last_time_ns_ = 0;
  uint64_t previous_time_ns_ = 0;
  ColumnSetWriter writer_;
};

}  // namespace vramscope::trace
