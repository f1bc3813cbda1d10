// SPDX-License-Identifier: Apache-2.0
// The records of a snapshot: which dicts become records, and what their keys mean. Unknown keys are skipped.
//
//   { "action": "alloc", "addr": ..., "frames": stack 5 }   has "action": Value(kEvent, 17)
//   { "address": ..., "total_size": ..., "blocks": [...] }  has "total_size": Value(kSegment, 3)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/model/chunked.h"
#include "profiler/snapshot/budget.h"
#include "profiler/snapshot/snapshot.h"
#include "profiler/snapshot/value.h"
#include "profiler/snapshot/values.h"

namespace vramscope::snapshot {

class Records {
 public:
  // Events, frames and stacks go into `into`. The other records stay here until read.
  Records(Snapshot* into, const Values* values, Budget* budget)
      : out_(*into), values_(*values), budget_(*budget) {}

  // The kind of record that a dict with these keys is; kDict: none. `pairs`: key, value, key, value ...
  [[nodiscard]] Kind KindOf(std::span<const Value> pairs) const;
  // Adds the record of such a dict. Returns false beyond the budget.
  [[nodiscard]] bool Add(Kind kind, std::span<const Value> pairs, Value* record);
  [[nodiscard]] bool AddEvent(std::span<const Value> pairs, Value* record);
  // Sets more keys of a record. Not for events and frames.
  void SetKeys(Value record, std::span<const Value> pairs);

  struct SegmentRecord {
    Segment segment;
    Value blocks;
  };
  [[nodiscard]] const SegmentRecord& segment(Value value) const { return segments_[value.index()]; }
  [[nodiscard]] const Block& block(Value value) const { return blocks_[value.index()]; }
  [[nodiscard]] const Annotation& annotation(Value value) const { return annotations_[value.index()]; }

 private:
  struct HistoryRecord {
    uint64_t requested_bytes = kUnknown;
    StackId stack = 0;
  };

  [[nodiscard]] bool AddEmpty(Kind kind, Value* record);
  [[nodiscard]] bool AddFrame(std::span<const Value> pairs, Value* record);
  void SetSegmentKey(SegmentRecord* record, Word key, Value value) const;
  void SetBlockKey(Block* block, Word key, Value value) const;
  uint32_t OriginOf(Value stream, Value context, Value metadata, Value pool);
  [[nodiscard]] static StackId StackOf(Value frames) { return frames.Is(Kind::kStack) ? frames.index() : 0; }

  Snapshot& out_;
  const Values& values_;
  Budget& budget_;
  std::vector<SegmentRecord> segments_;
  model::Chunked<Block> blocks_;
  std::vector<HistoryRecord> histories_;
  model::Chunked<Annotation> annotations_;
  Value last_origin_[4];  // the values that made the last origin
  uint32_t last_origin_id_ = 0;
};

}  // namespace vramscope::snapshot
