// SPDX-License-Identifier: Apache-2.0
#include "trace_format/compression.h"

#include <zstd.h>

namespace vramscope::trace {

void Compressor::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void Decompressor::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

Compressor::Compressor(int level) : context_(ZSTD_createCCtx()) {
  if (context_) ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
}

bool Compressor::Compress(ByteView raw, Bytes* out) {
  if (!context_) return false;
  out->resize(ZSTD_compressBound(raw.size()));
  const size_t written = ZSTD_compress2(context_.get(), out->data(), out->size(), raw.data(), raw.size());
  if (ZSTD_isError(written)) return false;
  out->resize(written);
  return true;
}

bool Decompressor::Decompress(ByteView stored, size_t raw_bytes, Bytes* out) {
  if (!context_) context_.reset(ZSTD_createDCtx());
  if (!context_) return false;
  out->resize(raw_bytes);
  const size_t written =
      ZSTD_decompressDCtx(context_.get(), out->data(), out->size(), stored.data(), stored.size());
  return !ZSTD_isError(written) && written == raw_bytes;
}

}  // namespace vramscope::trace
