// SPDX-License-Identifier: Apache-2.0
// An encoder for the wire format of Protocol Buffers: varints, strings, nested messages.
//
// https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::exporting {

class Message {
 public:
  Message& Number(uint32_t field, uint64_t value) {
    Varint(uint64_t{field} << 3);
    Varint(value);
    return *this;
  }
  // Adds a length-delimited field: bytes, a string, packed numbers or a message.
  Message& Bytes(uint32_t field, std::string_view bytes) {
    Varint(uint64_t{field} << 3 | 2);
    Varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  Message& Sub(uint32_t field, const Message& message) { return Bytes(field, message.bytes_); }
  // Appends a number without a field tag, for the contents of a packed field.
  Message& Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
    return *this;
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace vramscope::exporting
