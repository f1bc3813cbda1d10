// SPDX-License-Identifier: Apache-2.0
// Any bytes as a stretch of a ring: every record that the iterator returns lies inside it, and decoding stays
// inside the record.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "trace_format/raw_decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vramscope::trace;
  std::vector<uint64_t> words((size + 7) / 8);
  if (size > 0) std::memcpy(words.data(), data, size);
  RawIterator records(std::as_bytes(std::span(words)));
  size_t bytes = 0;
  uint64_t sum = 0;
  while (const RawRecord* record = records.Next()) {
    bytes += record->units * kRawUnitBytes;
    Event event;
    DecodeRaw(record, &event);
    for (const char character : RawText(*record)) sum += static_cast<unsigned char>(character);
    for (const uint64_t frame : RawFrames(*record)) sum += frame;
    for (const uint64_t word : RawWords(*record)) sum += word;
  }
  if (bytes + records.unreadable_bytes() > words.size() * 8) std::abort();
  [[maybe_unused]] static volatile uint64_t used;
  used = sum;
  return 0;
}
