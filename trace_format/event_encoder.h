// SPDX-License-Identifier: Apache-2.0
// Encodes events into the payload of an event block.
//
// Events are split into fields as they arrive. Each field's residual goes straight to its column, so an
// unfinished block is never held twice.
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
  // `live`: the live blocks of the trace, in which the encoder looks up allocations. Must outlive the
  // encoder.
  explicit EventEncoder(const LiveSet& live) : live_(live) {}

  // `process` is the process of the event's thread; `allocs_before` is the number of kAlloc events of the
  // trace before this one. The event must not yet have been applied to the live set.
  void Add(const Event& event, uint32_t process, uint64_t allocs_before);

  size_t count() const { return types_.size(); }
  uint64_t first_time_ns() const { return first_time_ns_; }
  uint64_t last_time_ns() const { return last_time_ns_; }
  uint64_t first_alloc() const { return first_alloc_; }

  // The payload of everything added since the last Finish; empties the encoder.
  Bytes Finish();

 private:
  struct FieldColumn {
    std::vector<uint64_t> values;
    std::vector<uint64_t> literals;  // of kReference and kRepeat
    RepeatFinder repeats;            // of kRepeat
    uint64_t previous = 0;           // of kDelta, and of the literals
    uint64_t any_bits = 0;           // of the facts; 0 = the column is left out
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
  // The allocation of this block that the event's reference field names, or nullptr.
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
