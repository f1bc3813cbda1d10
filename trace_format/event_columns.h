// SPDX-License-Identifier: Apache-2.0
// How the fields of an event block are stored as columns of small numbers. A column has a type and a field:
//
//   (0, 0) event types, in order       (0, 3) numbers of the block's threads in the trace
//   (0, 1) times                       (0, 4) the process of each thread in (0, 3)
//   (0, 2) thread of each event, as an index into (0, 3)
//   (t, f) field f of the events of type t, in order
//   (t, 128 + f) literals of column (t, f), if it uses kReference or kRepeat
//
// Training steps repeat. Compression works best if a repeated event has the same numbers each time. Addresses
// differ from step to step, but "the block that was allocated 17 allocations ago" repeats. Sizes of frees and
// saved tensors, and running totals, can be computed from earlier events. Therefore they are stored as zeros.
//
//   alloc 0x1000, alloc 0x2000, free 0x1000      the free's address is stored as 2 (two allocations ago), its
//                                                size as 0
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

// How a column's numbers are computed from the values of the field. In the file, the low four bits of the
// directory's field `transform` contain it; the high four bits contain ColumnPlan::parameter.
enum class Transform : uint8_t {
  // The value itself.
  kPlain = 0,
  // zigzag(value - previous value of this column). The value before the first one of a block is 0.
  kDelta = 1,
  // d > 0: the value is the address of the allocation that is d kAlloc events before this event. 0: the value
  // is the next literal.
  kReference = 2,
  // zigzag(value - size of the allocation that this event's kReference field refers to). The size is 0 if the
  // kReference field is a literal.
  kReferredSize = 3,
  // zigzag(value - field `parameter` of the same event).
  kSameAsField = 4,
  // zigzag(value - expected value). The expected value is the last value of the same process and device, plus
  // the size of an alloc or minus the size of a free.
  kRunningTotal = 5,
  // zigzag(value - last value of the same process and device).
  kRunningLevel = 6,
  // d > 0: the value equals the value d places before it in this column. 0: the value is the next literal.
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

// Returns the transform that the encoder uses for a field. Readers use the transform in the directory of the
// file. The transforms were chosen with codec_bench on training streams.
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

// Returns the field of an event type that refers to an allocation (kReference); -1 if there is none.
constexpr int ReferenceField(EventType type) {
  for (size_t field = 0; field < kEventSchema[static_cast<size_t>(type)].field_count; ++field) {
    if (PlanFor(type, field).transform == Transform::kReference) return static_cast<int>(field);
  }
  return -1;
}

// The last total_allocated and total_reserved of each process and device in an event block. The table has a
// fixed size. If two pairs of process and device share a slot, the encoded block is larger, but still
// correct.
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
