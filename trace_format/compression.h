// SPDX-License-Identifier: Apache-2.0
// zstd with reused contexts: making a context costs more than compressing a small block.
#pragma once

#include <memory>

#include "trace_format/bytes.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace vramscope::trace {

class Compressor {
 public:
  explicit Compressor(int level);

  // Compresses `raw` into one zstd frame in `*out` (replaced). False if zstd fails (no memory): store the
  // bytes uncompressed.
  [[nodiscard]] bool Compress(ByteView raw, Bytes* out);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
};

class Decompressor {
 public:
  // Decompresses exactly `raw_bytes` bytes into `*out` (replaced). False if `stored` is not a zstd frame of
  // that size. Never allocates more than `raw_bytes` plus zstd's fixed context, whatever `stored` contains.
  [[nodiscard]] bool Decompress(ByteView stored, size_t raw_bytes, Bytes* out);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
};

}  // namespace vramscope::trace
