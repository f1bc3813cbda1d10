// SPDX-License-Identifier: Apache-2.0
#include "trace_format/event_encoder.h"

#include <algorithm>
#include <utility>

namespace vramscope::trace {
namespace {

struct TypePlan {
  std::array<ColumnPlan, kMaxEventFields> fields{};
  int reference_field = -1;
};

constexpr std::array<TypePlan, kEventTypeCount> MakePlans() {
  std::array<TypePlan, kEventTypeCount> plans{};
  for (size_t type = 1; type < kEventTypeCount; ++type) {
    for (size_t field = 0; field < kEventSchema[type].field_count; ++field) {
      plans[type].fields[field] = PlanFor(static_cast<EventType>(type), field);
    }
    plans[type].reference_field = ReferenceField(static_cast<EventType>(type));
  }
  return plans;
}

constexpr std::array<TypePlan, kEventTypeCount> kPlans = MakePlans();

}  // namespace

size_t EventEncoder::PlaceOfThread(uint32_t thread, uint32_t process) {
  // Nearly always the thread of the previous event.
  if (last_place_ < threads_.size() && threads_[last_place_].thread == thread) return last_place_;
  const auto found = std::ranges::find(threads_, thread, &BlockThread::thread);
  last_place_ = static_cast<size_t>(found - threads_.begin());
  if (found == threads_.end()) threads_.push_back({thread, process});
  return last_place_;
}

void EventEncoder::AddTime(uint64_t time_ns) {
  if (times_.empty()) first_time_ns_ = last_time_ns_ = time_ns;
  first_time_ns_ = std::min(first_time_ns_, time_ns);
  last_time_ns_ = std::max(last_time_ns_, time_ns);
  times_.push_back(Zigzag(time_ns - previous_time_ns_));
  previous_time_ns_ = time_ns;
}

const LiveBlock* EventEncoder::Referred(const Event& event, uint32_t process) const {
  const int field = kPlans[static_cast<size_t>(event.type)].reference_field;
  if (field < 0) return nullptr;
  const LiveBlock* block = live_.Find(process, event.field[field]);
  return block != nullptr && block->number > first_alloc_ ? block : nullptr;
}

uint64_t EventEncoder::Residual(const Event& event, size_t field, const LiveBlock* referred,
                                RunningTotals::Slot& running) {
  const size_t type = static_cast<size_t>(event.type);
  const ColumnPlan plan = kPlans[type].fields[field];
  FieldColumn& column = columns_[type][field];
  const uint64_t value = event.field[field];
  column.any_bits |= value;
  switch (plan.transform) {
    case Transform::kPlain:
      return value;
    case Transform::kDelta:
      return Zigzag(value - std::exchange(column.previous, value));
    case Transform::kReference:
      if (referred != nullptr) return allocs_before_ - referred->number + 1;
      column.literals.push_back(Zigzag(value - std::exchange(column.previous, value)));
      return 0;
    case Transform::kRepeat: {
      const uint64_t distance = column.repeats.DistanceTo(value);
      if (distance == 0) column.literals.push_back(Zigzag(value - std::exchange(column.previous, value)));
      return distance;
    }
    case Transform::kReferredSize:
      return Zigzag(value - (referred != nullptr ? referred->size : 0));
    case Transform::kSameAsField:
      return Zigzag(value - event.field[plan.parameter]);
    case Transform::kRunningTotal: {
      const uint64_t size = event.field[alloc::kSize];
      const uint64_t change = event.type == EventType::kAlloc ? size : uint64_t{0} - size;
      return Zigzag(value - std::exchange(running.total, value) - change);
    }
    case Transform::kRunningLevel:
      return Zigzag(value - std::exchange(running.level, value));
  }
  return value;
}

void EventEncoder::Add(const Event& event, uint32_t process, uint64_t allocs_before) {
  if (types_.empty()) first_alloc_ = allocs_before;
  allocs_before_ = allocs_before;
  types_.push_back(static_cast<uint64_t>(event.type));
  AddTime(event.time_ns);
  thread_places_.push_back(PlaceOfThread(event.thread, process));

  const size_t type = static_cast<size_t>(event.type);
  const LiveBlock* referred = Referred(event, process);
  RunningTotals::Slot& running = totals_.Of(process, event.field[alloc::kDevice]);
  for (size_t field = 0; field < kEventSchema[type].field_count; ++field) {
    columns_[type][field].values.push_back(Residual(event, field, referred, running));
  }
}

void EventEncoder::WriteBlockColumns() {
  std::vector<uint64_t> thread_numbers;
  std::vector<uint64_t> thread_processes;
  for (const BlockThread& thread : threads_) {
    thread_numbers.push_back(thread.thread);
    thread_processes.push_back(thread.process);
  }
  const uint8_t plain = ColumnPlan{}.coded();
  writer_.AddCounted(0, block_column::kType, plain, types_);
  writer_.Add(0, block_column::kTime, ColumnPlan{Transform::kDelta}.coded(), times_);
  writer_.Add(0, block_column::kThreadPlace, plain, thread_places_);
  writer_.AddCounted(0, block_column::kThread, plain, thread_numbers);
  writer_.Add(0, block_column::kProcess, plain, thread_processes);
}

void EventEncoder::WriteColumnsOf(size_t type) {
  for (size_t field = 0; field < kEventSchema[type].field_count; ++field) {
    const FieldColumn& column = columns_[type][field];
    if (column.any_bits == 0) continue;
    const uint8_t number = static_cast<uint8_t>(field);
    writer_.Add(static_cast<uint8_t>(type), number, kPlans[type].fields[field].coded(), column.values);
    writer_.Add(static_cast<uint8_t>(type), number | kLiteralsOfField, ColumnPlan{Transform::kDelta}.coded(),
                column.literals);
  }
}

Bytes EventEncoder::Finish() {
  WriteBlockColumns();
  for (size_t type = 1; type < kEventTypeCount; ++type) WriteColumnsOf(type);
  Clear();
  return writer_.Finish();
}

void EventEncoder::Clear() {
  types_.clear();
  times_.clear();
  thread_places_.clear();
  threads_.clear();
  for (TypeColumns& columns : columns_) {
    for (FieldColumn& column : columns) {
      column.values.clear();
      column.literals.clear();
      column.repeats.Clear();
      column.previous = 0;
      column.any_bits = 0;
    }
  }
  totals_ = {};
  previous_time_ns_ = 0;
}

}  // namespace vramscope::trace
