// SPDX-License-Identifier: Apache-2.0
// Reads the raw records of a target's ring. Their bytes are untrusted.
//
//   copy [tail, head) out of the ring ──► RawIterator ──► records that lie whole in the copy ──► DecodeRaw
//
// The ring is shared memory, and the target may still write to it. A length must not change between check and
// use. The copy also frees the ring early.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "trace_format/event.h"
#include "trace_format/raw_record.h"

namespace vramscope::trace {

// Walks the records of a stretch of a ring and skips padding. Every returned record lies inside the stretch.
// An impossible length ends the walk.
class RawIterator {
 public:
  // `bytes`: aligned to 8, must outlive the iterator, must not change.
  explicit RawIterator(std::span<const std::byte> bytes);

  // The next record, or nullptr at the end.
  const RawRecord* Next();

  // Bytes at the end without a whole record. Valid after Next returned nullptr.
  size_t unreadable_bytes() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;  // what is left
};

// The words of a record: 2 to 2 + 4 * 254, as its units say.
std::span<const uint64_t> RawWords(const RawRecord& record);

// The text of a kRawDefineString.
std::string_view RawText(const RawRecord& record);

// The frames (string ids of the process) of a kRawDefineStack, outermost first.
std::span<const uint64_t> RawFrames(const RawRecord& record);

// Fills in `type` and `field` by kRawLayout. String ids, stack ids and ticks stay those of the process. Time
// and thread stay 0. Other records (definitions, unknown types) give kNone. `record` must lie whole in
// memory.
void DecodeRaw(const RawRecord* record, Event* event);

}  // namespace vramscope::trace
