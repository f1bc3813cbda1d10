// SPDX-License-Identifier: Apache-2.0
// Rows of numbers as a column set: the form of checkpoint and index blocks.
//
// The first column takes at least one byte per row, which bounds the number of rows.
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
  // Column i is written with the transform `plans[i]` (kPlain or kDelta).
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

// The first `columns` columns of `payload`, one vector each. Missing or unknown columns read as zeros.
// Nothing if the payload is malformed or has another number of rows.
std::optional<std::vector<std::vector<uint64_t>>> ReadRows(ByteView payload, size_t columns, uint64_t rows);

}  // namespace vramscope::trace
