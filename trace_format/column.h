// SPDX-License-Identifier: Apache-2.0
// A column: one field of many events, stored so that zstd compresses it well.
//
// The low bytes of a column are noise, and the high bytes are nearly constant. Each byte plane gets its own
// Huffman table. Decoding needs no branch per value.
//
//   storage        bytes
//   0  constant    varint value
//   w  planes      w = 1 ... 8: byte 0 of all values, then byte 1 of all values, ... byte w-1
//   9  dictionary  varint k (1 ... 256), k varint values, then one byte per value: its index among the k
//
// A column that is absent holds only zeros.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace_format/bytes.h"

namespace vramscope::trace {

enum class Storage : uint8_t {
  kConstant = 0,
  kPlanes1 = 1,
  kPlanes8 = 8,
  kDictionary = 9,
};

// Appends `values` to `*out` in the best storage, which it returns. `values` must not be empty.
Storage EncodeColumn(std::span<const uint64_t> values, Bytes* out);
// Like EncodeColumn, but always byte planes of the smallest width, at least 1. The number of values is then
// bounded by their bytes.
Storage EncodePlanes(std::span<const uint64_t> values, Bytes* out);

// A view of one stored column, with a read position.
class ColumnReader {
 public:
  // A column of zeros.
  ColumnReader() = default;
  // Nothing if `bytes` is not a well-formed column of `count` values. Afterwards reading cannot fail.
  static std::optional<ColumnReader> Open(Storage storage, uint64_t count, ByteView bytes);

  uint64_t count() const { return count_; }
  uint64_t remaining() const { return count_ - position_; }

  // The next values.size() values; zeros where the column has no more.
  void Read(std::span<uint64_t> values);

 private:
  template <int kWidth>
  void ReadPlanes(uint64_t* values, size_t count) const;

  Storage storage_ = Storage::kConstant;
  uint64_t count_ = 0;
  uint64_t position_ = 0;
  uint64_t constant_ = 0;
  const std::byte* bytes_ = nullptr;  // the planes, or the dictionary indexes
  std::vector<uint64_t> dictionary_;  // 256 values, zeros beyond its k
};

}  // namespace vramscope::trace
