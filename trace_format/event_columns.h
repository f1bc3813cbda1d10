// SPDX-License-Identifier: Apache-2.0
// How the fields of an event block become columns of small numbers.
//
//   (0, 0) event types, in order       (0, 3) threads of this block: their numbers in the trace
//   (0, 1) times                       (0, 4) the process of each of those threads
//   (0, 2) threads, as places in (0, 3)
//   (t, f) field f of the events of type t, in order
//   (t, 128 + f) literals of column (t, f), if it uses kReference or kRepeat
//
// Training steps repeat, so repeated events must look the same each time. Addresses change, but "the block
// allocated 17 allocations ago" repeats. Sizes of frees and saved tensors, and running totals, follow from
// earlier events and become zeros.
//
//   alloc 0x1000, alloc 0x2000, free 0x1000      the free's address: 2 (two allocations ago), its size: 0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trace_format/event.h"

namespace vramscope::trace {

// The fields of type 0, the block's own columns.
namespace block_column {
enum : uint8_t { kType = 0, kTime = 1, kThreadPlace = 2, kThread = 3, kProcess = 4 };
}

// The meaning of a column's numbers. On disk: the low four bits of the directory's `transform`. The high four
// bits hold `parameter`.
enum class Transform : uint8_t {
  // The value.
  kPlain = 0,
  // zigzag(value - previous value of this column), from 0 at the start of a block.
  kDelta = 1,
  // d > 0: the address of the allocation d kAlloc events before this event. 0: the next literal.
  kReference = 2,
  // zigzag(value - size of the allocation that this event's kReference field names; size 0 if that field is a
  // literal).
  kReferredSize = 3,
  // zigzag(value - field `parameter` of the same event).
  kSameAsField = 4,
  // zigzag(value - (last value of this process and device, + size of an alloc or - size of a free)).
  kRunningTotal = 5,
  // zigzag(value - last value of this process and device).
  kRunningLevel = 6,
  // d > 0: the value d places before in this column. 0: the next literal.
  kRepeat = 7,
};

inline constexpr uint8_t kLiteralsOfField = 0x80;

struct ColumnPlan {
  Transform transform = Transform::kPlain;
  uint8_t parameter = 0;

  constexpr uint8_t coded() const {
    return static_cast<uint8_t>(static_cast<uint8_t>(transform) | parameter << 4);
  }
  static constexpr ColumnPlan FromCoded(uint8_t coded) {
    return {static_cast<Transform>(coded & 0xf), static_cast<uint8_t>(coded >> 4)};
  }
};

// The encoder's transform for a field; readers follow the directory. Measured by codec_bench on training
// streams.
constexpr ColumnPlan PlanFor(EventType type, size_t field) {
  switch (type) {
    case EventType::kAlloc:
      if (field == alloc::kRequested) return {Transform::kSameAsField, alloc::kSize};
      if (field == alloc::kTotalAllocated) return {Transform::kRunningTotal};
      if (field == alloc::kTotalReserved) return {Transform::kRunningLevel};
      break;
    case EventType::kFree:
      if (field == free_::kAddress) return {Transform::kReference};
      if (field == free_::kSize) return {Transform::kReferredSize};
      if (field == free_::kTotalAllocated) return {Transform::kRunningTotal};
      if (field == free_::kTotalReserved) return {Transform::kRunningLevel};
      break;
    case EventType::kLabel:
      if (field == label::kAddress) return {Transform::kReference};
      if (field == label::kBytes) return {Transform::kReferredSize};
      break;
    case EventType::kSaved:
    case EventType::kSavedReleased:
      if (field == saved::kAddress) return {Transform::kReference};
      if (field == saved::kBytes) return {Transform::kReferredSize};
      break;
    case EventType::kOpTensor:
      if (field == op_tensor::kStorage) return {Transform::kReference};
      break;
    case EventType::kNodeCreated:
      return {Transform::kDelta};
    case EventType::kOpBegin:
      if (field == op::kSequence) return {Transform::kDelta};
      break;
    case EventType::kNodeBegin:
      if (field == node::kSequence) return {Transform::kDelta};
      break;
    case EventType::kMark:
      if (field == mark::kValue) return {Transform::kDelta};
      break;
    default:
      break;
  }
  const bool is_address = kEventSchema[static_cast<size_t>(type)].fields[field].kind == FieldKind::kAddress;
  return {is_address ? Transform::kRepeat : Transform::kPlain};
}

// The field that refers to an allocation, or -1.
constexpr int ReferenceField(EventType type) {
  for (size_t field = 0; field < kEventSchema[static_cast<size_t>(type)].field_count; ++field) {
    if (PlanFor(type, field).transform == Transform::kReference) return static_cast<int>(field);
  }
  return -1;
}

// The last total_allocated and total_reserved of each process and device in a block. A table of fixed size.
// Pairs that share a slot cost bytes, never correctness.
class RunningTotals {
 public:
  struct Slot {
    uint64_t total = 0;
    uint64_t level = 0;
  };
  Slot& Of(uint32_t process, uint64_t device) {
    return slots_[(uint64_t{process} * 31 + device) % slots_.size()];
  }

 private:
  std::array<Slot, 64> slots_;
};

}  // namespace vramscope::trace
