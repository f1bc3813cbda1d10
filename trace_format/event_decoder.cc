// SPDX-License-Identifier: Apache-2.0
#include "trace_format/event_decoder.h"

#include <algorithm>
#include <utility>

namespace vramscope::trace {
namespace {

bool IsKnownEvent(uint8_t type) { return type < kEventTypeCount && kEventSchema[type].name != nullptr; }

const ColumnEntry* FindBlockColumn(std::span<const ColumnEntry> entries, uint8_t field) {
  for (const ColumnEntry& entry : entries) {
    if (entry.type == 0 && entry.field == field) return &entry;
  }
  return nullptr;
}

// A missing column is a column of zeros.
std::optional<ColumnReader> OpenOptional(const ColumnEntry* entry) {
  if (entry == nullptr) return ColumnReader();
  return ColumnReader::Open(entry->storage, entry->count, entry->bytes);
}

bool IsPlanes(Storage storage) { return storage >= Storage::kPlanes1 && storage <= Storage::kPlanes8; }

}  // namespace

EventDecoder::EventDecoder() : events_(kBatchEvents) {}

bool EventDecoder::Open(ByteView payload, uint32_t count) {
  size_ = 0;
  previous_time_ns_ = 0;
  allocs_before_batch_ = allocs_after_batch_ = 0;
  totals_ = {};
  has_running_ = false;
  running_total_of_.fill(false);
  running_level_of_.fill(false);
  columns_.clear();
  column_place_.fill(0);

  const auto entries = ParseColumnSet(payload);
  if (!entries || !OpenBlockColumns(*entries, count) || !OpenThreads(*entries)) return false;
  CountTypes();
  for (const ColumnEntry& entry : *entries) {
    if (!OpenFieldColumn(entry)) return false;
  }
  const size_t allocs = events_of_type_[static_cast<size_t>(EventType::kAlloc)];
  alloc_address_.assign(allocs, 0);
  alloc_size_.assign(allocs, 0);
  return true;
}

bool EventDecoder::OpenBlockColumns(std::span<const ColumnEntry> entries, uint32_t count) {
  const ColumnEntry* types = FindBlockColumn(entries, block_column::kType);
  // Only byte planes: the number of events is then bounded by the bytes in the file.
  if (types == nullptr || types->count != count || types->storage != Storage::kPlanes1) return false;
  auto type_column = OpenOptional(types);
  auto time_column = OpenOptional(FindBlockColumn(entries, block_column::kTime));
  auto place_column = OpenOptional(FindBlockColumn(entries, block_column::kThreadPlace));
  if (!type_column || !time_column || !place_column) return false;
  types_ = std::move(*type_column);
  times_ = std::move(*time_column);
  thread_places_ = std::move(*place_column);
  return true;
}

bool EventDecoder::OpenThreads(std::span<const ColumnEntry> entries) {
  const ColumnEntry* threads = FindBlockColumn(entries, block_column::kThread);
  if (threads == nullptr || !IsPlanes(threads->storage)) return false;
  auto thread_column = OpenOptional(threads);
  auto process_column = OpenOptional(FindBlockColumn(entries, block_column::kProcess));
  if (!thread_column || !process_column) return false;
  threads_.assign(static_cast<size_t>(threads->count), {});
  for (BlockThread& thread : threads_) {
    uint64_t value = 0;
    thread_column->Read({&value, 1});
    thread.thread = static_cast<uint32_t>(value);
    process_column->Read({&value, 1});
    thread.process = static_cast<uint32_t>(value);
  }
  return true;
}

void EventDecoder::CountTypes() {
  events_of_type_.fill(0);
  ColumnReader types = types_;
  while (types.remaining() > 0) {
    const size_t size = std::min<uint64_t>(kBatchEvents, types.remaining());
    types.Read(std::span(scratch_).first(size));
    for (size_t i = 0; i < size; ++i) ++events_of_type_[static_cast<uint8_t>(scratch_[i])];
  }
  has_unknown_types_ = false;
  for (size_t type = 0; type < events_of_type_.size(); ++type) {
    if (events_of_type_[type] != 0 && !IsKnownEvent(static_cast<uint8_t>(type))) has_unknown_types_ = true;
  }
}

EventDecoder::Column& EventDecoder::ColumnOf(uint8_t type, uint8_t field) {
  uint8_t& place = column_place_[type * kMaxEventFields + field];
  if (place == 0) {
    columns_.push_back({type, field});
    place = static_cast<uint8_t>(columns_.size());
  }
  return columns_[place - 1u];
}

bool EventDecoder::OpenFieldColumn(const ColumnEntry& entry) {
  const uint8_t field = entry.field & ~kLiteralsOfField;
  if (!IsKnownEvent(entry.type) || field >= kEventSchema[entry.type].field_count)
    return true;  // from a newer writer

  auto values = ColumnReader::Open(entry.storage, entry.count, entry.bytes);
  if (!values) return false;
  Column& column = ColumnOf(entry.type, field);
  if (entry.field & kLiteralsOfField) {
    column.literals = std::move(*values);
    return column.plan.transform == Transform::kReference || column.plan.transform == Transform::kRepeat;
  }
  if (entry.count != events_of_type_[entry.type]) return false;
  column.values = std::move(*values);
  column.plan = ColumnPlan::FromCoded(entry.transform);
  switch (column.plan.transform) {
    case Transform::kPlain:
    case Transform::kDelta:
    case Transform::kReferredSize:
      return true;
    case Transform::kRepeat:
      column.history.reserve(static_cast<size_t>(entry.count));
      return true;
    case Transform::kReference:
      return entry.type != static_cast<uint8_t>(EventType::kAlloc);  // allocations are what references name
    case Transform::kSameAsField:
      return column.plan.parameter < kMaxEventFields;
    case Transform::kRunningTotal:
      has_running_ = running_total_of_[entry.type] = true;
      return true;
    case Transform::kRunningLevel:
      has_running_ = running_level_of_[entry.type] = true;
      return true;
  }
  return false;
}

std::span<const Event> EventDecoder::Next() {
  do {
    FillBatch();
  } while (size_ == 0 && types_.remaining() > 0);
  return std::span(events_).first(size_);
}

void EventDecoder::FillBatch() {
  allocs_before_batch_ = allocs_after_batch_;
  size_ = std::min<uint64_t>(kBatchEvents, types_.remaining());
  if (size_ == 0) return;
  std::fill_n(events_.begin(), size_, Event{});
  FillBlockColumns(size_);
  GroupByType(size_);
  for (Column& column : columns_) FillColumn(column);
  if (has_running_) FillRunning(size_);
  if (has_unknown_types_) DropUnknownTypes();
}

void EventDecoder::FillBlockColumns(size_t size) {
  const std::span values = std::span(scratch_).first(size);
  types_.Read(values);
  for (size_t i = 0; i < size; ++i) {
    type_[i] = static_cast<uint8_t>(values[i]);
    events_[i].type = static_cast<EventType>(type_[i]);
  }
  times_.Read(values);
  for (size_t i = 0; i < size; ++i) events_[i].time_ns = previous_time_ns_ += Unzigzag(values[i]);
  thread_places_.Read(values);
  for (size_t i = 0; i < size; ++i) {
    const BlockThread thread = values[i] < threads_.size() ? threads_[values[i]] : BlockThread{};
    events_[i].thread = thread.thread;
    process_[i] = thread.process;
  }
}

void EventDecoder::GroupByType(size_t size) {
  group_.fill(0);
  uint32_t allocs = static_cast<uint32_t>(allocs_before_batch_);
  for (size_t i = 0; i < size; ++i) {
    ++group_[type_[i] + 1u];
    alloc_rank_[i] = allocs;
    allocs += type_[i] == static_cast<uint8_t>(EventType::kAlloc);
  }
  allocs_after_batch_ = allocs;
  for (size_t type = 1; type < group_.size(); ++type) group_[type] += group_[type - 1];
  std::array<uint16_t, 257> next = group_;
  for (size_t i = 0; i < size; ++i) positions_[next[type_[i]]++] = static_cast<uint16_t>(i);
}

std::span<const uint16_t> EventDecoder::PositionsOf(size_t type) const {
  return std::span(positions_).subspan(group_[type], group_[type + 1] - group_[type]);
}

void EventDecoder::FillColumn(Column& column) {
  const auto positions = PositionsOf(column.type);
  if (positions.empty()) return;
  const std::span values = std::span(scratch_).first(positions.size());
  column.values.Read(values);
  switch (column.plan.transform) {
    case Transform::kPlain:
      break;
    case Transform::kDelta:
      for (uint64_t& value : values) value = column.previous += Unzigzag(value);
      break;
    case Transform::kReference:
      FollowReferences(column, positions, values);
      break;
    case Transform::kRepeat:
      FollowRepeats(column, values);
      break;
    case Transform::kReferredSize:
      for (size_t i = 0; i < values.size(); ++i) {
        const uint32_t referred = referred_type_ == column.type ? referred_[i] : 0;
        values[i] = Unzigzag(values[i]) + (referred == 0 ? 0 : alloc_size_[referred - 1]);
      }
      break;
    case Transform::kSameAsField:
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = Unzigzag(values[i]) + events_[positions[i]].field[column.plan.parameter];
      }
      break;
    case Transform::kRunningTotal:
    case Transform::kRunningLevel:
      break;  // residuals for now; FillRunning needs allocs and frees in their order
  }
  for (size_t i = 0; i < values.size(); ++i) events_[positions[i]].field[column.field] = values[i];

  if (column.type == static_cast<uint8_t>(EventType::kAlloc)) {
    if (column.field == alloc::kAddress)
      std::ranges::copy(values, alloc_address_.begin() + allocs_before_batch_);
    if (column.field == alloc::kSize) std::ranges::copy(values, alloc_size_.begin() + allocs_before_batch_);
  }
}

uint64_t EventDecoder::NextLiteral(Column& column) {
  uint64_t coded = 0;
  column.literals.Read({&coded, 1});
  return column.previous += Unzigzag(coded);
}

void EventDecoder::FollowRepeats(Column& column, std::span<uint64_t> values) {
  for (uint64_t& value : values) {
    const uint64_t distance = value;
    const bool is_known = distance != 0 && distance <= column.history.size();
    value = is_known ? column.history[column.history.size() - distance] : NextLiteral(column);
    column.history.push_back(value);
  }
}

void EventDecoder::FollowReferences(Column& column, std::span<const uint16_t> positions,
                                    std::span<uint64_t> values) {
  referred_type_ = column.type;
  for (size_t i = 0; i < values.size(); ++i) {
    const uint32_t rank = alloc_rank_[positions[i]];
    const uint64_t distance = values[i];
    if (distance != 0 && distance <= rank) {
      referred_[i] = static_cast<uint32_t>(rank - distance + 1);
      values[i] = alloc_address_[rank - distance];
    } else {
      referred_[i] = 0;
      values[i] = NextLiteral(column);
    }
  }
}

void EventDecoder::FillRunning(size_t size) {
  for (size_t i = 0; i < size; ++i) {
    const bool is_alloc = type_[i] == static_cast<uint8_t>(EventType::kAlloc);
    if (!is_alloc && type_[i] != static_cast<uint8_t>(EventType::kFree)) continue;
    Event& event = events_[i];
    uint64_t& total = event.field[is_alloc ? size_t{alloc::kTotalAllocated} : size_t{free_::kTotalAllocated}];
    uint64_t& level = event.field[is_alloc ? size_t{alloc::kTotalReserved} : size_t{free_::kTotalReserved}];
    RunningTotals::Slot& running = totals_.Of(process_[i], event.field[alloc::kDevice]);
    const uint64_t size_of = event.field[alloc::kSize];
    if (running_total_of_[type_[i]])
      total = Unzigzag(total) + running.total + (is_alloc ? size_of : 0 - size_of);
    if (running_level_of_[type_[i]]) level = Unzigzag(level) + running.level;
    running.total = total;
    running.level = level;
  }
}

void EventDecoder::DropUnknownTypes() {
  size_t kept = 0;
  for (size_t i = 0; i < size_; ++i) {
    if (!IsKnownEvent(type_[i])) continue;
    events_[kept] = events_[i];
    process_[kept++] = process_[i];
  }
  size_ = kept;
}

}  // namespace vramscope::trace
