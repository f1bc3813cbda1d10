// SPDX-License-Identifier: Apache-2.0
// Converts dicts of a snapshot to records: events, frames, segments, blocks and others. The keys of a dict
// determine its kind. Unknown keys are skipped.
//
//   { "action": "alloc", "addr": ..., "frames": stack 5 }   the key "action" gives Value(kEvent, 17)
//   { "address": ..., "total_size": ..., "blocks": [...] }  the key "total_size" gives Value(kSegment, 3)
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
  // Events, frames and stacks are written into `into`. The other records are stored in this object.
  Records(Snapshot* into, const Values* values, Budget* budget)
      : out_(*into), values_(*values), budget_(*budget) {}

  // Returns the kind of record for a dict with these keys, or kDict if the dict is not a record. `pairs` is
  // key, value, key, value, ...
  [[nodiscard]] Kind KindOf(std::span<const Value> pairs) const;
  // Converts a dict to a record and sets `record` to refer to it. Returns false if the memory budget is used
  // up.
  [[nodiscard]] bool Add(Kind kind, std::span<const Value> pairs, Value* record);
  [[nodiscard]] bool AddEvent(std::span<const Value> pairs, Value* record);
  // Sets more keys of an existing record. Do not call for events and frames.
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
  Value last_origin_[4];  // the values that define the last origin
  uint32_t last_origin_id_ = 0;
};

}  // namespace vramscope::snapshot
