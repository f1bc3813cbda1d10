// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes columns. A column contains one field of many events, in a form that zstd compresses
// well.
//
// The low bytes of the values are nearly random, and the high bytes are nearly constant. Therefore a column
// stores byte planes, so that zstd uses a separate Huffman table for each plane. Decoding needs no branch per
// value.
//
//   storage        bytes
//   0  constant    varint value
//   w  planes      w = 1 ... 8: byte 0 of all values, then byte 1 of all values, ... byte w-1
//   9  dictionary  varint k (1 ... 256), k varint values, then one byte per value: index of its value
//
// If all values of a column are 0, the column is omitted.
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

// Appends the encoded `values` to `*out`. Chooses and returns the best storage. `values` must not be empty.
Storage EncodeColumn(std::span<const uint64_t> values, Bytes* out);
// Like EncodeColumn, but always uses byte planes, with the smallest possible width. Each value takes at least
// one byte, so that the size of the data limits the number of values.
Storage EncodePlanes(std::span<const uint64_t> values, Bytes* out);

// A view of one stored column, with a read position.
class ColumnReader {
 public:
  // A column of zeros.
  ColumnReader() = default;
  // Returns nothing if `bytes` is not a well-formed column of `count` values. Reading from the result cannot
  // fail.
  static std::optional<ColumnReader> Open(Storage storage, uint64_t count, ByteView bytes);

  uint64_t count() const { return count_; }
  uint64_t remaining() const { return count_ - position_; }

  // Reads the next values.size() values. If the column has fewer values left, the others are set to 0.
  void Read(std::span<uint64_t> values);

 private:
  template <int kWidth>
  void ReadPlanes(uint64_t* values, size_t count) const;

  Storage storage_ = Storage::kConstant;
  uint64_t count_ = 0;
  uint64_t position_ = 0;
  uint64_t constant_ = 0;
  const std::byte* bytes_ = nullptr;  // the planes, or the dictionary indexes
  std::vector<uint64_t> dictionary_;  // always 256 values; unused values are 0
};

}  // namespace vramscope::trace
