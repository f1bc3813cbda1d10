// SPDX-License-Identifier: Apache-2.0
// Compression with zstd. Each object keeps its zstd context for later calls.
#pragma once

#include <memory>

#include "trace_format/bytes.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace vramscope::trace {

class Compressor {
 public:
  explicit Compressor(int level);

  // Compresses `raw` into one zstd frame and replaces `*out` by it. Returns false if zstd fails (out of
  // memory). The caller then stores the bytes uncompressed.
  [[nodiscard]] bool Compress(ByteView raw, Bytes* out);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

class Decompressor {
 public:
  // Decompresses exactly `raw_bytes` bytes and replaces `*out` by them. Returns false if `stored` is not a
  // zstd frame of that size. Allocates at most `raw_bytes` plus zstd's fixed context.
  [[nodiscard]] bool Decompress(ByteView stored, size_t raw_bytes, Bytes* out);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
};

}  // namespace vramscope::trace
