// SPDX-License-Identifier: Apache-2.0
#include "trace_format/rows.h"

#include <utility>

#include "trace_format/check.h"
#include "trace_format/column_set.h"

namespace vramscope::trace {

RowWriter::RowWriter(std::initializer_list<Transform> plans) {
  for (const Transform transform : plans) columns_.push_back({transform});
}

void RowWriter::AddRow(std::initializer_list<uint64_t> values) {
  VRAMSCOPE_CHECK(values.size() == columns_.size());
  Column* column = columns_.data();
  for (const uint64_t value : values) {
    const bool is_delta = column->transform == Transform::kDelta;
    column->values.push_back(is_delta ? Zigzag(value - std::exchange(column->previous, value)) : value);
    ++column;
  }
}

Bytes RowWriter::Finish() const {
  ColumnSetWriter writer;
  for (size_t field = 0; field < columns_.size(); ++field) {
    const Column& column = columns_[field];
    const uint8_t transform = ColumnPlan{column.transform}.coded();
    if (field == 0) {
      writer.AddCounted(0, 0, transform, column.values);
    } else {
      writer.Add(0, static_cast<uint8_t>(field), transform, column.values);
    }
  }
  return writer.Finish();
}

std::optional<std::vector<std::vector<uint64_t>>> ReadRows(ByteView payload, size_t columns, uint64_t rows) {
  const auto entries = ParseColumnSet(payload);
  if (!entries) return std::nullopt;
  std::vector<std::vector<uint64_t>> table(columns);
  bool has_first = false;
  for (const ColumnEntry& entry : *entries) {
    if (entry.type != 0 || entry.field >= columns) continue;
    const bool is_first = entry.field == 0;
    // The first column has bytes for every row. Only after this check may `rows` decide how much is
    // allocated.
    if (is_first && (entry.storage < Storage::kPlanes1 || entry.storage > Storage::kPlanes8))
      return std::nullopt;
    if (!is_first && !has_first) return std::nullopt;
    auto values = ColumnReader::Open(entry.storage, entry.count, entry.bytes);
    if (!values || entry.count != rows) return std::nullopt;
    has_first |= is_first;
    std::vector<uint64_t>& column = table[entry.field];
    column.resize(static_cast<size_t>(rows));
    values->Read(column);
    if (ColumnPlan::FromCoded(entry.transform).transform == Transform::kDelta) {
      uint64_t previous = 0;
      for (uint64_t& value : column) value = previous += Unzigzag(value);
    }
  }
  if (!has_first) return rows == 0 ? std::optional(table) : std::nullopt;
  for (std::vector<uint64_t>& column : table) column.resize(static_cast<size_t>(rows));
  return table;
}

}  // namespace vramscope::trace
