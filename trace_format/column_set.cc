// SPDX-License-Identifier: Apache-2.0
#include "trace_format/column_set.h"

#include <utility>

namespace vramscope::trace {
namespace {

constexpr uint64_t kMinEntryBytes = 6;

}  // namespace

void ColumnSetWriter::Add(uint8_t type, uint8_t field, uint8_t transform, std::span<const uint64_t> values) {
  if (values.empty()) return;
  const size_t start = data_.size();
  const Storage storage = EncodeColumn(values, &data_);
  AddEntry(type, field, transform, storage, values.size(), data_.size() - start);
}

void ColumnSetWriter::AddCounted(uint8_t type, uint8_t field, uint8_t transform,
                                 std::span<const uint64_t> values) {
  const size_t start = data_.size();
  const Storage storage = EncodePlanes(values, &data_);
  AddEntry(type, field, transform, storage, values.size(), data_.size() - start);
}

void ColumnSetWriter::AddEntry(uint8_t type, uint8_t field, uint8_t transform, Storage storage, size_t count,
                               size_t bytes) {
  for (const uint8_t byte : {type, field, transform, static_cast<uint8_t>(storage)}) {
    directory_.push_back(static_cast<std::byte>(byte));
  }
  PutVarint(count, &directory_);
  PutVarint(bytes, &directory_);
  ++columns_;
}

Bytes ColumnSetWriter::Finish() {
  Bytes payload;
  payload.reserve(10 + directory_.size() + data_.size());
  PutVarint(columns_, &payload);
  PutBytes(directory_, &payload);
  PutBytes(data_, &payload);
  columns_ = 0;
  directory_.clear();
  data_.clear();
  return payload;
}

std::optional<std::vector<ColumnEntry>> ParseColumnSet(ByteView payload) {
  ByteCursor cursor(payload);
  const uint64_t columns = cursor.Varint();
  if (!cursor.ok() || columns > cursor.remaining() / kMinEntryBytes) return std::nullopt;

  std::vector<ColumnEntry> entries(static_cast<size_t>(columns));
  std::vector<uint64_t> lengths(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    ColumnEntry& entry = entries[i];
    entry.type = cursor.Byte();
    entry.field = cursor.Byte();
    entry.transform = cursor.Byte();
    entry.storage = static_cast<Storage>(cursor.Byte());
    entry.count = cursor.Varint();
    lengths[i] = cursor.Varint();
  }
  for (size_t i = 0; i < entries.size(); ++i) entries[i].bytes = cursor.Take(lengths[i]);
  if (!cursor.ok() || cursor.remaining() != 0) return std::nullopt;
  return entries;
}

}  // namespace vramscope::trace
