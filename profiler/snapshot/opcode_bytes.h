// SPDX-License-Identifier: Apache-2.0
// Decodes the arguments of pickle opcodes.
#pragma once

#include <cstdint>
#include <cstring>

namespace vramscope::snapshot {

// Reads a little-endian number. Numbers in pickles are little-endian.
template <typename T>
T Load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// Longest LONG1 number in bytes that fits a Value. ShortLong() always reads eight bytes from memory.
constexpr uint8_t kMaxShortLong = 7;
inline int64_t ShortLong(const uint8_t* from, uint8_t length) {
  if (length == 0) return 0;
  const int unused = 64 - 8 * length;
  return static_cast<int64_t>(Load<uint64_t>(from) << unused) >> unused;
}

// If `p` points to the opcode MEMOIZE, BINPUT or LONG_BINPUT, sets *memo to the memo index of the opcode and
// returns the position after the opcode. Otherwise returns `p`.
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
