// SPDX-License-Identifier: Apache-2.0
// Encodes and decodes the payload of event, checkpoint and index blocks. The payload is a directory of
// columns, followed by their bytes.
//
//   ├ varint k ┼ k directory entries ┼ bytes of column 0 ┼ bytes of column 1 ┼ ... ┤
//
//   entry = type (1) │ field (1) │ transform (1) │ storage (1) │ varint value count │ varint byte length
//
// A reader decodes the columns whose (type, field) it supports, and skips all others. A missing column counts
// as zeros. Therefore, new event types and fields need no new format version.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace_format/bytes.h"
#include "trace_format/column.h"

namespace vramscope::trace {

struct ColumnEntry {
  uint8_t type = 0;  // EventType; 0 = a column that describes the whole block
  uint8_t field = 0;
  uint8_t transform = 0;  // how the stored values were computed (event_columns.h)
  Storage storage{};
  uint64_t count = 0;  // number of values
  ByteView bytes;
};

class ColumnSetWriter {
 public:
  // Adds a column. An empty column is not stored. The caller may also omit a column of zeros, unless the
  // transform gives zeros a meaning.
  void Add(uint8_t type, uint8_t field, uint8_t transform, std::span<const uint64_t> values);
  // Like Add, but stores at least one byte per value. For the column that defines the number of rows.
  void AddCounted(uint8_t type, uint8_t field, uint8_t transform, std::span<const uint64_t> values);

  // Returns the payload of all columns that were added since the last Finish().
  Bytes Finish();

 private:
  void AddEntry(uint8_t type, uint8_t field, uint8_t transform, Storage storage, size_t count, size_t bytes);

  uint64_t columns_ = 0;
  Bytes directory_;
  Bytes data_;
};

// Returns the directory of a payload. The entries point into the payload. Returns nullopt if the directory is
// malformed.
std::optional<std::vector<ColumnEntry>> ParseColumnSet(ByteView payload);

}  // namespace vramscope::trace
