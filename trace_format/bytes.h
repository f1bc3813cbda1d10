// SPDX-License-Identifier: Apache-2.0
// Writes and reads the numbers of a trace as little-endian bytes: numbers of fixed width, and varints.
// ByteCursor reads untrusted bytes.
//
// A varint has seven bits of the number in each byte, the least significant bits first. The high bit is set
// in each byte except the last one. A varint has at most ten bytes: 300 is 0xAC 0x02. Zigzag maps 0, -1, 1,
// -2 to 0, 1, 2, 3.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace vramscope::trace {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

static_assert(std::endian::native == std::endian::little, "the codec copies integers as they are in memory");

template <typename T>
T LoadLe(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void StoreLe(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

// `difference`: the difference of two unsigned values modulo 2^64.
constexpr uint64_t Zigzag(uint64_t difference) {
  return (difference << 1) ^ (uint64_t{0} - (difference >> 63));
}
constexpr uint64_t Unzigzag(uint64_t coded) { return (coded >> 1) ^ (uint64_t{0} - (coded & 1)); }

inline void PutVarint(uint64_t value, Bytes* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<std::byte>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<std::byte>(value));
}

inline void PutBytes(ByteView bytes, Bytes* out) { out->insert(out->end(), bytes.begin(), bytes.end()); }

inline ByteView AsBytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

// Appends the length of `text` as a varint, followed by the bytes of `text`.
inline void PutText(std::string_view text, Bytes* out) {
  PutVarint(text.size(), out);
  PutBytes(AsBytes(text), out);
}

// Reads untrusted bytes from front to back. After a read past the end, or after a malformed varint, ok() is
// false, and all reads return zeros. Therefore a parser can read a whole record before it checks ok().
class ByteCursor {
 public:
  explicit ByteCursor(ByteView bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  size_t remaining() const { return rest_.size(); }

  uint8_t Byte() {
    if (rest_.empty()) return static_cast<uint8_t>(Fail());
    const uint8_t value = static_cast<uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }

  uint64_t Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return Fail();
      const uint64_t byte = static_cast<uint64_t>(rest_.front());
      rest_ = rest_.subspan(1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return Fail();
  }

  ByteView Take(uint64_t length) {
    if (length > rest_.size()) {
      Fail();
      return {};
    }
    const ByteView taken = rest_.first(static_cast<size_t>(length));
    rest_ = rest_.subspan(static_cast<size_t>(length));
    return taken;
  }

  std::string_view Text() {
    const ByteView taken = Take(Varint());
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

 private:
  uint64_t Fail() {
    ok_ = false;
    rest_ = {};
    return 0;
  }

  ByteView rest_;
  bool ok_ = true;
};

}  // namespace vramscope::trace
