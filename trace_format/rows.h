// SPDX-License-Identifier: Apache-2.0
// Rows of numbers as a column set: what checkpoint and index blocks are made of.
//
// The first column is stored with at least one byte per row, so that a count of rows is bounded by the bytes
// they take.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "trace_format/bytes.h"
#include "trace_format/event_columns.h"

namespace vramscope::trace {

class RowWriter {
 public:
  // `plans[i]` (kPlain or kDelta) is how column i is written.
  explicit RowWriter(std::initializer_list<Transform> plans);
  void AddRow(std::initializer_list<uint64_t> values);
  Bytes Finish() const;

 private:
  struct Column {
    Transform transform;
    uint64_t previous = 0;
    std::vector<uint64_t> values;
  };
  std::vector<Column> columns_;
};

// The first `columns` columns of the rows in `payload`, one vector per column; columns that are absent or
// unknown to this code read as zeros. Nothing when the payload is malformed or does not have `rows` rows.
std::optional<std::vector<std::vector<uint64_t>>> ReadRows(ByteView payload, size_t columns, uint64_t rows);

}  // namespace vramscope::trace
