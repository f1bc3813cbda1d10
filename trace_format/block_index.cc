// SPDX-License-Identifier: Apache-2.0
#include "trace_format/block_index.h"

#include "trace_format/crc32.h"
#include "trace_format/rows.h"

namespace vramscope::trace {
namespace {

enum IndexColumn : size_t {
  kOffset,
  kType,
  kVersion,
  kStoredBytes,
  kCount,
  kFirstTime,
  kLastTime,
  kFirstEvent,
  kFirstAlloc,
  kIndexColumns
};

// The header at an entry's offset, if header and payload are whole.
std::optional<BlockHeader> WholeHeader(ByteView file, const BlockEntry& entry) {
  const auto header = ParseBlockHeader(FileFrom(file, entry.offset));
  if (!header) return std::nullopt;
  const ByteView payload = FileFrom(file, entry.offset + kBlockHeaderBytes);
  if (payload.size() < header->stored_bytes) return std::nullopt;
  return Crc32(payload.first(header->stored_bytes)) == header->payload_crc ? header : std::nullopt;
}

}  // namespace

Bytes EncodeIndex(std::span<const BlockEntry> blocks) {
  constexpr Transform kPlain = Transform::kPlain;
  constexpr Transform kDelta = Transform::kDelta;
  RowWriter rows({kDelta, kPlain, kPlain, kPlain, kPlain, kDelta, kDelta, kDelta, kDelta});
  for (const BlockEntry& block : blocks) {
    const BlockHeader& header = block.header;
    rows.AddRow({block.offset, static_cast<uint64_t>(header.type), header.version, header.stored_bytes,
                 header.count, header.first_time_ns, header.last_time_ns, header.first_event,
                 header.first_alloc});
  }
  return rows.Finish();
}

std::optional<std::vector<BlockEntry>> DecodeIndex(ByteView payload, uint32_t count, uint64_t index_offset) {
  const auto rows = ReadRows(payload, kIndexColumns, count);
  if (!rows) return std::nullopt;
  std::vector<BlockEntry> blocks(count);
  uint64_t free_from = kFileHeaderBytes;
  for (uint32_t i = 0; i < count; ++i) {
    const auto value = [&](IndexColumn column) { return (*rows)[column][i]; };
    BlockEntry& block = blocks[i];
    block.offset = value(kOffset);
    block.header.type = static_cast<BlockType>(value(kType));
    block.header.version = static_cast<uint16_t>(value(kVersion));
    block.header.stored_bytes = static_cast<uint32_t>(value(kStoredBytes));
    block.header.count = static_cast<uint32_t>(value(kCount));
    block.header.first_time_ns = value(kFirstTime);
    block.header.last_time_ns = value(kLastTime);
    block.header.first_event = value(kFirstEvent);
    block.header.first_alloc = value(kFirstAlloc);
    if (block.offset < free_from || block.offset > index_offset || block.end() > index_offset)
      return std::nullopt;
    free_from = block.end();
  }
  return blocks;
}

ByteView FileFrom(ByteView file, uint64_t offset) {
  return offset >= file.size() ? ByteView() : file.subspan(static_cast<size_t>(offset));
}

bool IsWhole(ByteView file, const BlockEntry& entry) { return WholeHeader(file, entry).has_value(); }

std::optional<ByteView> LoadPayload(ByteView file, const BlockEntry& entry, Decompressor* decompressor,
                                    Bytes* buffer) {
  const auto header = WholeHeader(file, entry);
  if (!header) return std::nullopt;
  const ByteView stored = FileFrom(file, entry.offset + kBlockHeaderBytes).first(header->stored_bytes);
  if (header->compression == Compression::kNone) return stored;
  if (header->compression != Compression::kZstd) return std::nullopt;
  if (!decompressor->Decompress(stored, header->raw_bytes, buffer)) return std::nullopt;
  return ByteView(*buffer);
}

}  // namespace vramscope::trace
