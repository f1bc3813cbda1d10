// SPDX-License-Identifier: Apache-2.0
// Reads the raw records of a target's ring. The collector does not trust a byte of them.
//
//   copy [tail, head) out of the ring ──► RawIterator ──► records that lie whole in the copy ──► DecodeRaw
//
// Why a copy first: the ring is shared memory, and the target may still write to it, even through a stray
// pointer. A length must not change between its check and its use. The copy also frees the ring early.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "trace_format/event.h"
#include "trace_format/raw_record.h"

namespace vramscope::trace {

// Walks the records of a stretch of a ring and skips padding. Every record it returns lies inside the stretch
// with all of its units. An impossible length ends the walk, because the start of the next record is then
// unknown.
class RawIterator {
 public:
  // `bytes` are aligned to 8, outlive the iterator and do not change.
  explicit RawIterator(std::span<const std::byte> bytes);

  // The next record, or nullptr at the end.
  const RawRecord* Next();

  // Bytes at the end that hold no whole record; 0 if everything was read. Valid only after Next returned
  // nullptr.
  size_t unreadable_bytes() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;  // what is left
};

// The words of a record: 2 to 2 + 4 * 254, as its units say.
std::span<const uint64_t> RawWords(const RawRecord& record);

// The text of a kRawDefineString: never longer than what the record holds.
std::string_view RawText(const RawRecord& record);

// The frames (string ids of the process) of a kRawDefineStack, outermost first; never more than the record
// holds.
std::span<const uint64_t> RawFrames(const RawRecord& record);

// Fills in `type` and `field` by kRawLayout. Strings, stacks and ticks stay the process's own; time and
// thread stay 0. A record of another type (definition, unknown) gives kNone. `record` must lie whole in
// memory, as RawIterator's records do.
void DecodeRaw(const RawRecord* record, Event* event);

}  // namespace vramscope::trace
