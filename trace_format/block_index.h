// SPDX-License-Identifier: Apache-2.0
// Single blocks of a mapped file, and the index block that a closed trace ends with.
//
// The index block's payload is a column set of type 0. The set has one row per earlier block, in file order:
//   0 offset of the header  1 type  2 version  3 stored bytes  4 count
//   5 first time  6 last time  7 first event  8 first alloc
// (offsets, times, events and allocs as zigzag deltas). A row repeats the block's header: a reader need not
// read the headers.
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
  uint64_t offset = 0;  // of the block's header in the file
  BlockHeader header;   // from an index: without raw size, compression and checksum

  uint64_t end() const { return offset + kBlockHeaderBytes + header.stored_bytes; }
};

Bytes EncodeIndex(std::span<const BlockEntry> blocks);
// Nothing unless the payload names `count` consecutive blocks between the file header and `index_offset`.
std::optional<std::vector<BlockEntry>> DecodeIndex(ByteView payload, uint32_t count, uint64_t index_offset);

// The bytes of the file from `offset` on; empty beyond its end.
ByteView FileFrom(ByteView file, uint64_t offset);

// True if the block at this offset has a valid header and a payload with the right checksum. Like
// LoadPayload, uses only the offset of `entry`.
bool IsWhole(ByteView file, const BlockEntry& entry);

// The payload of a block: decompressed into `*buffer`, or a view of the file. Nothing if the block is not
// whole or has the wrong decompressed size.
std::optional<ByteView> LoadPayload(ByteView file, const BlockEntry& entry, Decompressor* decompressor,
                                    Bytes* buffer);

}  // namespace vramscope::trace
