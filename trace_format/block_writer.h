// SPDX-License-Identifier: Apache-2.0
// Writes the blocks of a trace: compresses each payload, adds checksums, and remembers the offset of each
// block for the index.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trace_format/block_index.h"
#include "trace_format/bytes.h"
#include "trace_format/compression.h"
#include "trace_format/file_sink.h"
#include "trace_format/result.h"

namespace vramscope::trace {

class BlockWriter {
 public:
  BlockWriter(std::unique_ptr<ByteSink> sink, int zstd_level)
      : sink_(std::move(sink)), compressor_(zstd_level) {}

  // Writes a block. Write fills in the sizes, the compression and the checksum of `header`. If writing fails,
  // the file is not changed.
  Status Write(BlockHeader header, ByteView payload);
  // Like Write, but does not add the block to entries(), because an index does not list itself.
  Status WriteIndex(BlockHeader header, ByteView payload);
  // Writes bytes that belong to no block: the file header and the trailer.
  Status WriteBare(ByteView bytes);

  std::span<const BlockEntry> entries() const { return entries_; }
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  Status Emit(BlockHeader* header, ByteView payload);

  std::unique_ptr<ByteSink> sink_;
  Compressor compressor_;
  Bytes compressed_;
  Bytes block_;
  std::vector<BlockEntry> entries_;
  uint64_t bytes_written_ = 0;
};

}  // namespace vramscope::trace
