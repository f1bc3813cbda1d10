// SPDX-License-Identifier: Apache-2.0
// Writes and reads a table of numbers as a column set. Checkpoint blocks and index blocks are such tables.
//
// The first column takes at least one byte per row. Therefore a damaged payload cannot claim more rows than
// it has bytes.
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

// Returns the first `columns` columns of `payload`, one vector for each column. A missing column is returned
// as zeros. Returns nullopt if the payload is malformed or does not have `rows` rows.
std::optional<std::vector<std::vector<uint64_t>>> ReadRows(ByteView payload, size_t columns, uint64_t rows);

}  // namespace vramscope::trace
