// SPDX-License-Identifier: Apache-2.0
// zstd with reused contexts.
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
  // that size. Allocates at most `raw_bytes` plus zstd's fixed context.
  [[nodiscard]] bool Decompress(ByteView stored, size_t raw_bytes, Bytes* out);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };
  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
};

}  // namespace vramscope::trace
