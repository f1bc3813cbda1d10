// SPDX-License-Identifier: Apache-2.0
// The index block, which is the last block of a closed trace and lists all other blocks. Also reads single
// blocks of a mapped trace.
//
// The payload of the index block is a column set of type 0. The set has one row for each earlier block, in
// the order of the file, with these columns:
//   0 offset of the header  1 type  2 version  3 stored bytes  4 count
//   5 first time  6 last time  7 first event  8 first alloc
// Columns 0 and 5 to 8 are stored as zigzag deltas. A row repeats fields of the block's header. Therefore a
// reader does not need the headers themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace_format/bytes.h"
#include "trace_format/compression.h"
#include "trace_format/wire.h"

namespace vramscope::trace {

struct BlockEntry {
  uint64_t offset = 0;  // offset of the block's header in the file
  BlockHeader header;   // in an entry from DecodeIndex, raw size, compression and checksum are missing

  uint64_t end() const { return offset + kBlockHeaderBytes + header.stored_bytes; }
};

Bytes EncodeIndex(std::span<const BlockEntry> blocks);
// Returns the rows of an index block. `index_offset`: offset of the index block. Returns nullopt if the
// payload is malformed, if it does not have `count` rows, or if the listed blocks overlap or lie outside the
// range from the file header to `index_offset`.
std::optional<std::vector<BlockEntry>> DecodeIndex(ByteView payload, uint32_t count, uint64_t index_offset);

// Returns the bytes of the file from `offset` to its end; empty if `offset` is not in the file.
ByteView FileFrom(ByteView file, uint64_t offset);

// True if the block at `entry.offset` has a valid header and a payload with the right checksum. Other fields
// of `entry` are not used.
bool IsWhole(ByteView file, const BlockEntry& entry);

// Returns the payload of the block at `entry.offset`. A compressed payload is decompressed into `*buffer`;
// otherwise the result is a view of the file. Returns nullopt if IsWhole() is false or if the decompressed
// size is wrong. Other fields of `entry` are not used.
std::optional<ByteView> LoadPayload(ByteView file, const BlockEntry& entry, Decompressor* decompressor,
                                    Bytes* buffer);

}  // namespace vramscope::trace
