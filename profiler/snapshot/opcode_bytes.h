// SPDX-License-Identifier: Apache-2.0
// Decodes the arguments of pickle opcodes.
#pragma once

#include <cstdint>
#include <cstring>

namespace vramscope::snapshot {

// Reads a little-endian number, as pickles have them.
template <typename T>
T Load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// A LONG1 number of at most this many bytes fits a Value. ShortLong reads eight bytes.
constexpr uint8_t kMaxShortLong = 7;
inline int64_t ShortLong(const uint8_t* from, uint8_t length) {
  if (length == 0) return 0;
  const int unused = 64 - 8 * length;
  return static_cast<int64_t>(Load<uint64_t>(from) << unused) >> unused;
}

// Skips MEMOIZE, BINPUT or LONG_BINPUT at `p` and sets *memo to its entry. Returns `p` itself if there is
// none.
inline const uint8_t* SkipMemo(const uint8_t* p, uint64_t next_entry, uint64_t* memo) {
  if (*p == 0x94) {
    *memo = next_entry;
    return p + 1;
  }
  if (*p == 'q') {
    *memo = p[1];
    return p + 2;
  }
  if (*p != 'r') return p;
  *memo = Load<uint32_t>(p + 1);
  return p + 5;
}

}  // namespace vramscope::snapshot
