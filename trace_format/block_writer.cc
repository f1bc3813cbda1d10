// SPDX-License-Identifier: Apache-2.0
#include "trace_format/block_writer.h"

#include "trace_format/crc32.h"

namespace vramscope::trace {

Status BlockWriter::Write(BlockHeader header, ByteView payload) {
  const uint64_t offset = bytes_written_;
  Status written = Emit(&header, payload);
  if (written.ok()) entries_.push_back({offset, header});
  return written;
}

Status BlockWriter::WriteIndex(BlockHeader header, ByteView payload) { return Emit(&header, payload); }

Status BlockWriter::Emit(BlockHeader* header, ByteView payload) {
  const bool is_smaller = compressor_.Compress(payload, &compressed_) &&
                          compressed_.size() < payload.size() &&
                          payload.size() <= compressed_.size() * uint64_t{kMaxCompressionRatio};
  const ByteView stored = is_smaller ? ByteView(compressed_) : payload;
  header->compression = is_smaller ? Compression::kZstd : Compression::kNone;
  header->stored_bytes = static_cast<uint32_t>(stored.size());
  header->raw_bytes = static_cast<uint32_t>(payload.size());
  header->payload_crc = Crc32(stored);
  // Header and payload in one write: if it fails, the sink has neither of them.
  block_.clear();
  PutBytes(EncodeBlockHeader(*header), &block_);
  PutBytes(stored, &block_);
  return WriteBare(block_);
}

Status BlockWriter::WriteBare(ByteView bytes) {
  Status written = sink_->Write(bytes);
  if (written.ok()) bytes_written_ += bytes.size();
  return written;
}

}  // namespace vramscope::trace
