// SPDX-License-Identifier: Apache-2.0
// The payload of event, checkpoint and index blocks: a directory of columns, then their bytes.
//
//   ├ varint k ┼ k directory entries ┼ bytes of column 0 ┼ bytes of column 1 ┼ ... ┤
//
//   entry = type (1) │ field (1) │ transform (1) │ storage (1) │ varint value count │ varint byte length
//
// A reader takes the columns whose (type, field) it knows and skips the others. A missing column reads as
// zeros. So new event types and fields need no new version.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace_format/bytes.h"
#include "trace_format/column.h"

namespace vramscope::trace {

struct ColumnEntry {
  uint8_t type = 0;  // EventType; 0 = a column of the block as a whole
  uint8_t field = 0;
  uint8_t transform = 0;  // how values were made from facts (event_columns.h)
  Storage storage{};
  uint64_t count = 0;
  ByteView bytes;
};

class ColumnSetWriter {
 public:
  // Adds nothing if `values` is empty. The caller may leave out a column of zeros, unless its transform gives
  // zeros a meaning.
  void Add(uint8_t type, uint8_t field, uint8_t transform, std::span<const uint64_t> values);
  // Like Add, with at least one byte per value: for the column that defines the number of rows.
  void AddCounted(uint8_t type, uint8_t field, uint8_t transform, std::span<const uint64_t> values);

  // The payload of all columns added since the last Finish.
  Bytes Finish();

 private:
  void AddEntry(uint8_t type, uint8_t field, uint8_t transform, Storage storage, size_t count, size_t bytes);

  uint64_t columns_ = 0;
  Bytes directory_;
  Bytes data_;
};

// The directory of a payload. The payload must outlive it. Nothing if the directory does not match the
// payload.
std::optional<std::vector<ColumnEntry>> ParseColumnSet(ByteView payload);

}  // namespace vramscope::trace
