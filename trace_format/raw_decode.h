// SPDX-License-Identifier: Apache-2.0
// Decodes the raw records that a recorded process writes into its ring. The bytes are untrusted.
//
//   copy [tail, head) out of the ring ──► RawIterator ──► records that lie whole in the copy ──► DecodeRaw
//
// The ring is shared memory, and the process may still write to it. In a copy, a length cannot change between
// the check and its use. The copy also frees space in the ring early.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "trace_format/event.h"
#include "trace_format/raw_record.h"

namespace vramscope::trace {

// Iterates over the records in a copied part of a ring, and skips padding. Every returned record lies
// completely inside this part. An impossible length ends the iteration.
class RawIterator {
 public:
  // `bytes` must be aligned to 8, must outlive the iterator, and must not change.
  explicit RawIterator(std::span<const std::byte> bytes);

  // Returns the next record, or nullptr at the end.
  const RawRecord* Next();

  // Returns the number of bytes at the end that contain no whole record. Valid after Next() has returned
  // nullptr.
  size_t unreadable_bytes() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;  // the part that is not read yet
};

// Returns the words of a record: 2 to 2 + 4 * 254, depending on RawRecord::units.
std::span<const uint64_t> RawWords(const RawRecord& record);

// Returns the text of a kRawDefineString record.
std::string_view RawText(const RawRecord& record);

// Returns the frames of a kRawDefineStack record (string ids of the process), outermost first.
std::span<const uint64_t> RawFrames(const RawRecord& record);

// Sets `type` and `field` of the event as kRawLayout defines. String ids, stack ids and ticks are still those
// of the recorded process. Time and thread are 0. For definitions and unknown types, the event type is kNone.
// `record` must lie completely in memory.
void DecodeRaw(const RawRecord* record, Event* event);

}  // namespace vramscope::trace
