// SPDX-License-Identifier: Apache-2.0
// The raw record that a thread of a recorded process writes into its ring, and the conversion of the record
// to an Event.
//
// The recorded process only writes a few words. The collector does the encoding, interning and compression. A
// record consists of 1 to 255 units of 32 bytes:
//
//   0          1       2        4         8                16               24               32 bytes
//   ├ type ────┼ units ┼ small ─┼ id ─────┼ ticks ─────────┼ word[0] ───────┼ word[1] ───────┤  first unit
//   ├ word[2] ────────────────────────────┼ word[3] ───────┼ word[4] ───────┼ word[5] ───────┤  next units
//
// Example: a free has 4 words (address, size, two totals). word[2] and word[3] are in a second unit, so the
// record has 64 bytes.
//
// Because of `small` and `id`, frequent records need only one or two units. kRawLayout defines which field of
// the event is stored where. Words after the end of a record count as 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace_format/event.h"

namespace vramscope::trace {

inline constexpr size_t kRawUnitBytes = 32;
inline constexpr size_t kRawMaxUnits = 255;

struct RawRecord {
  uint8_t type;   // EventType, or one of the kRawDefine... below
  uint8_t units;  // 1 to 255
  uint16_t small;
  uint32_t id;       // string or stack id of the process; the collector maps it to the trace's id
  uint64_t ticks;    // time on the process's clock (RingFileHeader::clock)
  uint64_t word[2];  // further words follow if units > 1
};
static_assert(sizeof(RawRecord) == kRawUnitBytes);

// Types of records that define an id. A process writes each definition once, before the first record that
// uses the id.

// Defines the string `id`: word[0] is the length in bytes; the bytes start at word[1], UTF-8 if the string is
// text.
inline constexpr uint8_t kRawDefineString = 0xF0;
// Defines the stack `id`: word[0] is the number of frames. From word[1] on, each word is the string id of a
// frame, outermost first.
inline constexpr uint8_t kRawDefineStack = 0xF1;
// A block that was allocated before the recording, in the layout of kAlloc. The collector converts the record
// to a kAlloc with the single frame kHeldFrame, unless a live block has this address.
inline constexpr uint8_t kRawHeldBlock = 0xF2;
inline constexpr uint8_t kRawPadding = 0xFF;  // fills the end of the ring; readers skip `units`

// Longer strings are truncated.
inline constexpr size_t kRawMaxStringBytes = (kRawMaxUnits - 1) * kRawUnitBytes;
inline constexpr size_t kRawMaxFrames = 512;  // of longer stacks, only the innermost frames are recorded

constexpr uint8_t RawUnitsForWords(size_t words) {
  return static_cast<uint8_t>(words <= 2 ? 1 : 1 + (words - 2 + 3) / 4);
}

inline constexpr uint8_t kNoField = 0xFF;

struct RawLayout {
  uint8_t small_field;  // index of the Event field that is stored in `small`; kNoField = none
  uint8_t id_field;     // index of the Event field that is stored in `id`; kNoField = none
  uint8_t word_count;
  uint8_t word_field[kMaxEventFields];  // index of the Event field that each word stores
};

// clang-format off
inline constexpr RawLayout kRawLayout[kEventTypeCount] = {
    /* kNone */ {kNoField, kNoField, 0, {}},
    /* kAlloc */
    {alloc::kDevice, alloc::kStack, 6,
     {alloc::kAddress, alloc::kSize, alloc::kStream, alloc::kRequested, alloc::kTotalAllocated,
      alloc::kTotalReserved}},
    /* kFree */
    {free_::kDevice, free_::kStack, 4,
     {free_::kAddress, free_::kSize, free_::kTotalAllocated, free_::kTotalReserved}},
    /* kOutOfMemory */
    {oom::kDevice, oom::kStack, 3, {oom::kRequested, oom::kTotalAllocated, oom::kTotalReserved}},
    /* kLabel */
    {label::kRole, label::kName, 4, {label::kAddress, label::kBytes, label::kTensor, label::kSource}},
    /* kSaved */ {saved::kIsOutput, kNoField, 3, {saved::kAddress, saved::kBytes, saved::kTensor}},
    /* kSavedReleased */ {kNoField, kNoField, 2, {0, 1}},
    /* kRangeBegin */ {range::kKind, range::kName, 1, {range::kId}},
    /* kRangeEnd */ {range::kKind, range::kName, 1, {range::kId}},
    /* kMark */ {mark::kKind, mark::kName, 2, {mark::kValue, mark::kTensor}},
    /* kOpBegin */ {op::kScope, op::kName, 3, {op::kSequence, op::kForwardThread, op::kStack}},
    /* kOpEnd */ {kNoField, kNoField, 0, {}},
    /* kOpTensor */
    {op_tensor::kFlags, op_tensor::kShape, 6,
     {op_tensor::kTensor, op_tensor::kStorage, op_tensor::kOffset, op_tensor::kStrides, op_tensor::kDtype,
      op_tensor::kPosition}},
    /* kOpScalar */ {op_scalar::kPosition, op_scalar::kText, 0, {}},
    /* kNodeCreated */ {kNoField, kNoField, 1, {0}},
    /* kNodeEdge */ {edge::kInput, kNoField, 3, {edge::kNode, edge::kNext, edge::kTensor}},
    /* kNodeBegin */ {kNoField, node::kName, 2, {node::kNode, node::kSequence}},
    /* kNodeEnd */ {kNoField, kNoField, 1, {0}},
    /* kCounter */ {counter::kDevice, counter::kName, 1, {counter::kValue}},
    /* kLost: times in ticks here */ {kNoField, kNoField, 3, {lost::kCount, lost::kFirstNs, lost::kLastNs}},
    /* kCoverage */ {coverage::kState, coverage::kHook, 1, {coverage::kDetail}},
    /* kDriverAlloc: result in small, api in id */ {7, 4, 6, {0, 1, 2, 3, 5, 6}},
    /* kDriverFree */ {5, 3, 5, {0, 1, 2, 4, 6}},
    /* kDriverMap */ {5, 6, 5, {0, 1, 2, 3, 4}},
    /* kSegment */ {2, kNoField, 5, {0, 1, 3, 4, 5}},
    /* kFreeCompleted */ {1, kNoField, 1, {0}},
    /* kDriverTotal */ {0, kNoField, 4, {1, 2, 3, 4}},
};
// clang-format on

}  // namespace vramscope::trace
