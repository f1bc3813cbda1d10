// SPDX-License-Identifier: Apache-2.0
// Decodes the payload of an event block into events, one batch at a time.
//
// A batch has 1024 events of 80 bytes, so that it stays in the second-level cache while its columns are
// decoded.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace_format/bytes.h"
#include "trace_format/column_set.h"
#include "trace_format/event.h"
#include "trace_format/event_columns.h"

namespace vramscope::trace {

class EventDecoder {
 public:
  static constexpr size_t kBatchEvents = 1024;

  EventDecoder();

  // Starts to decode a block of `count` events. `payload` must outlive the decoding. Returns false if
  // `payload` is malformed. If it returns true, Next() cannot fail.
  [[nodiscard]] bool Open(ByteView payload, uint32_t count);

  // Returns the next events, at most kBatchEvents; empty at the end of the block. The events are valid until
  // the next call. Events of unknown types are left out. processes()[i] is the process of event i's thread.
  std::span<const Event> Next();
  std::span<const uint32_t> processes() const { return std::span(process_).first(size_); }

  // Returns the number of kAlloc events in this block before the last batch.
  uint64_t allocs_before_batch() const { return allocs_before_batch_; }

  static_assert(kEventTypeCount * kMaxEventFields < 256, "places are bytes");

 private:
  struct Column {
    uint8_t type = 0;
    uint8_t field = 0;
    ColumnPlan plan;
    ColumnReader values;
    ColumnReader literals;          // of kReference and kRepeat
    uint64_t previous = 0;          // of kDelta, and of the literals
    std::vector<uint64_t> history;  // of kRepeat: all values so far
  };
  struct BlockThread {
    uint32_t thread = 0;
    uint32_t process = 0;
  };
  using Scratch = std::array<uint64_t, kBatchEvents>;

  bool OpenBlockColumns(std::span<const ColumnEntry> entries, uint32_t count);
  bool OpenThreads(std::span<const ColumnEntry> entries);
  bool OpenFieldColumn(const ColumnEntry& entry);
  Column& ColumnOf(uint8_t type, uint8_t field);
  void CountTypes();

  void FillBatch();
  void FillBlockColumns(size_t size);
  void GroupByType(size_t size);
  void FillColumn(Column& column);
  static uint64_t NextLiteral(Column& column);
  static void FollowRepeats(Column& column, std::span<uint64_t> values);
  void FollowReferences(Column& column, std::span<const uint16_t> positions, std::span<uint64_t> values);
  void FillRunning(size_t size);
  void DropUnknownTypes();
  std::span<const uint16_t> PositionsOf(size_t type) const;

  ColumnReader types_;
  ColumnReader times_;
  ColumnReader thread_places_;
  std::vector<BlockThread> threads_;
  std::vector<Column> columns_;
  std::array<uint8_t, kEventTypeCount * kMaxEventFields> column_place_{};  // place in columns_ + 1
  std::array<uint32_t, 256> events_of_type_{};
  bool has_unknown_types_ = false;
  bool has_running_ = false;
  std::array<bool, kEventTypeCount> running_total_of_{};
  std::array<bool, kEventTypeCount> running_level_of_{};
  RunningTotals totals_;

  uint64_t previous_time_ns_ = 0;
  uint64_t allocs_before_batch_ = 0;
  uint64_t allocs_after_batch_ = 0;
  std::vector<uint64_t> alloc_address_;  // of the block's allocations so far
  std::vector<uint64_t> alloc_size_;

  std::vector<Event> events_;
  size_t size_ = 0;
  std::array<uint32_t, kBatchEvents> process_{};
  std::array<uint8_t, kBatchEvents> type_{};
  std::array<uint16_t, kBatchEvents> positions_{};   // grouped by type
  std::array<uint16_t, 257> group_{};                // where each type's group starts
  std::array<uint32_t, kBatchEvents> alloc_rank_{};  // number of kAlloc events of the block before each event
  std::array<uint32_t, kBatchEvents>
      referred_{};  // of the last reference column: allocation's place in the block + 1, or 0
  uint8_t referred_type_ = 0;
  Scratch scratch_{};
};

}  // namespace vramscope::trace
