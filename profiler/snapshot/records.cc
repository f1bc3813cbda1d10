// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/records.h"

#include <algorithm>

namespace vramscope::snapshot {

Kind Records::KindOf(std::span<const Value> pairs) const {
  for (size_t i = 0; i < pairs.size(); i += 2) {
    switch (values_.WordAt(pairs[i])) {
      case Word::kAction:
        return Kind::kEvent;
      case Word::kFilename:
        return Kind::kFrame;
      case Word::kState:
        return Kind::kBlock;
      case Word::kTotalSize:
        return Kind::kSegment;
      case Word::kRealSize:
        return Kind::kHistory;
      case Word::kStage:
        return Kind::kAnnotation;
      default:
        break;
    }
  }
  return Kind::kDict;
}

bool Records::Add(Kind kind, std::span<const Value> pairs, Value* record) {
  if (kind == Kind::kEvent) return AddEvent(pairs, record);
  if (kind == Kind::kFrame) return AddFrame(pairs, record);
  if (!AddEmpty(kind, record)) return false;
  SetKeys(*record, pairs);
  return true;
}

bool Records::AddEmpty(Kind kind, Value* record) {
  uint64_t index = 0;
  switch (kind) {
    case Kind::kBlock:
      if (!budget_.Charge(sizeof(Block))) return false;
      index = blocks_.size();
      blocks_.push_back({});
      break;
    case Kind::kSegment:
      if (!budget_.Charge(2 * sizeof(SegmentRecord))) return false;
      index = segments_.size();
      segments_.emplace_back();
      break;
    case Kind::kHistory:
      if (!budget_.Charge(2 * sizeof(HistoryRecord))) return false;
      index = histories_.size();
      histories_.emplace_back();
      break;
    default:
      if (!budget_.Charge(sizeof(Annotation))) return false;
      index = annotations_.size();
      annotations_.push_back({});
      break;
  }
  if (index >= Values::kMaxElements) return false;
  *record = Value(kind, index);
  return true;
}

bool Records::AddFrame(std::span<const Value> pairs, Value* record) {
  Frame frame;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Value value = pairs[i + 1];
    switch (values_.WordAt(pairs[i])) {
      case Word::kFilename:
        frame.file = value.Is(Kind::kString) ? value.index() : 0;
        break;
      case Word::kName:
        frame.function = value.Is(Kind::kString) ? value.index() : 0;
        break;
      case Word::kLine:
        frame.line = value.Is(Kind::kInt) ? value.AsInt() : 0;
        break;
      default:
        break;
    }
  }
  const uint32_t before = out_.stacks.frame_count();
  const FrameId id = out_.stacks.AddFrame(frame);
  if (out_.stacks.frame_count() != before && !budget_.Charge(StackTable::kFrameCost)) return false;
  *record = Value(Kind::kFrame, id);
  return true;
}

bool Records::AddEvent(std::span<const Value> pairs, Value* record) {
  Event event;
  Value stream;
  Value context;
  Value metadata;
  Value pool;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Value value = pairs[i + 1];
    switch (values_.WordAt(pairs[i])) {
      case Word::kAction: {
        const Word action = values_.WordAt(value);
        if (action >= Word::kAlloc && action <= Word::kAnnotate) {
          event.action = static_cast<Action>(static_cast<int>(action) - static_cast<int>(Word::kAlloc));
        }
        break;
      }
      case Word::kAddr:
      case Word::kDeviceFree:
        event.address = values_.Number(value);
        break;
      case Word::kSize:
        event.bytes = values_.Number(value);
        break;
      case Word::kTimeUs:
        event.time_us = values_.Number(value);
        break;
      case Word::kFrames:
        event.stack = StackOf(value);
        break;
      case Word::kStream:
        stream = value;
        break;
      case Word::kCompileContext:
        context = value;
        break;
      case Word::kUserMetadata:
        metadata = value;
        break;
      case Word::kPoolId:
        pool = value;
        break;
      default:
        break;
    }
  }
  event.origin = OriginOf(stream, context, metadata, pool);
  if (out_.events.size() >= Values::kMaxElements || !budget_.Charge(sizeof(Event))) return false;
  *record = Value(Kind::kEvent, out_.events.size());
  out_.events.push_back(event);
  return true;
}

uint32_t Records::OriginOf(Value stream, Value context, Value metadata, Value pool) {
  if (stream == last_origin_[0] && context == last_origin_[1] && metadata == last_origin_[2] &&
      pool == last_origin_[3]) {
    return last_origin_id_;
  }
  Origin origin;
  origin.stream = values_.Number(stream);
  origin.compile_context = context.Is(Kind::kString) ? context.index() : 0;
  origin.user_metadata = metadata.Is(Kind::kString) ? metadata.index() : 0;
  origin.has_context = context.Is(Kind::kString);
  origin.has_metadata = metadata.Is(Kind::kString);
  origin.has_pool = values_.PoolOf(pool, &origin.pool);
  // A handful in practice. A program that gives each event different data gets an entry for each.
  constexpr size_t kSearched = 64;
  const size_t from = out_.origins.size() > kSearched ? out_.origins.size() - kSearched : 0;
  auto found = std::find(out_.origins.begin() + static_cast<ptrdiff_t>(from), out_.origins.end(), origin);
  if (found == out_.origins.end()) {
    if (!budget_.Charge(2 * sizeof(Origin))) return 0;  // the next charge reports it
    found = out_.origins.insert(found, origin);
  }
  last_origin_[0] = stream;
  last_origin_[1] = context;
  last_origin_[2] = metadata;
  last_origin_[3] = pool;
  last_origin_id_ = static_cast<uint32_t>(found - out_.origins.begin());
  return last_origin_id_;
}

void Records::SetKeys(Value record, std::span<const Value> pairs) {
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Word key = values_.WordAt(pairs[i]);
    const Value value = pairs[i + 1];
    if (record.Is(Kind::kSegment)) {
      SetSegmentKey(&segments_[record.index()], key, value);
    } else if (record.Is(Kind::kBlock)) {
      SetBlockKey(&blocks_[record.index()], key, value);
    } else if (record.Is(Kind::kHistory)) {
      HistoryRecord& history = histories_[record.index()];
      if (key == Word::kRealSize) history.requested_bytes = values_.Number(value);
      if (key == Word::kFrames) history.stack = StackOf(value);
    } else if (record.Is(Kind::kAnnotation)) {
      Annotation& annotation = annotations_[record.index()];
      if (key == Word::kName && value.Is(Kind::kString)) annotation.name = value.index();
      if (key == Word::kDevice) annotation.device = static_cast<uint32_t>(values_.Number(value));
      if (key == Word::kTimeUs) annotation.time_us = values_.Number(value);
      if (key == Word::kStage) annotation.start = values_.WordAt(value) == Word::kStart;
    }
  }
}

void Records::SetSegmentKey(SegmentRecord* record, Word key, Value value) const {
  Segment& segment = record->segment;
  switch (key) {
    case Word::kDevice:
      segment.device = static_cast<uint32_t>(values_.Number(value));
      break;
    case Word::kAddress:
      segment.address = values_.Number(value);
      break;
    case Word::kTotalSize:
      segment.bytes = values_.Number(value);
      break;
    case Word::kAllocatedSize:
      segment.allocated_bytes = values_.Number(value);
      break;
    case Word::kActiveSize:
      segment.active_bytes = values_.Number(value);
      break;
    case Word::kRequestedSize:
      segment.requested_bytes = values_.Number(value);
      break;
    case Word::kStream:
      segment.stream = values_.Number(value);
      break;
    case Word::kSegmentType:
      segment.large = values_.WordAt(value) != Word::kSmall;
      break;
    case Word::kSegmentPoolId:
      segment.has_pool = values_.PoolOf(value, &segment.pool);
      break;
    case Word::kIsExpandable:
      segment.expandable = values_.Number(value) != 0;
      break;
    case Word::kFrames:
      segment.stack = StackOf(value);
      break;
    case Word::kBlocks:
      record->blocks = value;
      break;
    default:
      break;
  }
}

void Records::SetBlockKey(Block* block, Word key, Value value) const {
  switch (key) {
    case Word::kAddress:
      block->address = values_.Number(value);
      break;
    case Word::kSize:
      block->bytes = values_.Number(value);
      break;
    case Word::kRequestedSize:
      block->requested_bytes = values_.Number(value);
      break;
    case Word::kFrames:
      block->stack = StackOf(value);
      break;
    case Word::kState: {
      const Word state = values_.WordAt(value);
      block->state = state == Word::kActiveAllocated ? BlockState::kAllocated
                     : state == Word::kInactive      ? BlockState::kInactive
                                                     : BlockState::kPendingFree;
      break;
    }
    case Word::kHistory: {  // the newest first; has priority over the block's own keys
      uint32_t newest = 0;
      if (!values_.FirstRecord(value, Kind::kHistory, &newest)) break;
      const HistoryRecord& history = histories_[newest];
      if (block->requested_bytes == kUnknown) block->requested_bytes = history.requested_bytes;
      if (block->stack == 0) block->stack = history.stack;
      break;
    }
    default:
      break;
  }
}

}  // namespace vramscope::snapshot
