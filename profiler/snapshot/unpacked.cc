// SPDX-License-Identifier: Apache-2.0
// gzip (RFC 1952, including several concatenated members) and zstd (RFC 8878) as byte sources.
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <vector>

#include "profiler/snapshot/byte_stream.h"

namespace vramscope::snapshot {
namespace {

constexpr size_t kPackedWindow = size_t{128} << 10;
constexpr uint64_t kMaxExpansion = 1000;
constexpr uint64_t kFreeExpansion = uint64_t{16} << 20;
// 32 MiB; `zstd -19` needs 8. A file of 20 bytes may request any window.
constexpr int kMaxZstdWindowLog = 25;

class PackedInput {
 public:
  explicit PackedInput(std::unique_ptr<ByteSource> source)
      : source_(std::move(source)), buffer_(kPackedWindow) {}

  // The rest of the last read, or a new read; empty at the end.
  Result<std::span<uint8_t>> Next() {
    if (rest_.empty()) {
      const size_t got = VRAMSCOPE_TRY(source_->Read(buffer_));
      rest_ = std::span(buffer_).first(got);
      packed_ += got;
    }
    return rest_;
  }
  void Took(size_t bytes) { rest_ = rest_.subspan(bytes); }
  // Counts unpacked bytes.
  Status Gave(size_t bytes) {
    unpacked_ += bytes;
    if (unpacked_ <= kFreeExpansion + kMaxExpansion * packed_) return {};
    return Error{"it expands to more than a thousand times its size, which no snapshot does"};
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<uint8_t> buffer_;
  std::span<uint8_t> rest_;
  uint64_t packed_ = 0;
  uint64_t unpacked_ = 0;
};

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> packed) : input_(std::move(packed)) {
    constexpr int kGzipOnly = 16;
    inflateInit2(&stream_, MAX_WBITS + kGzipOnly);
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Result<size_t> Read(std::span<uint8_t> into) override {
    for (;;) {
      const std::span<uint8_t> packed = VRAMSCOPE_TRY(input_.Next());
      if (packed.empty()) {
        if (!inside_) return size_t{0};
        return Error{"its gzip data is cut off"};
      }
      inside_ = true;
      stream_.next_in = packed.data();
      stream_.avail_in = static_cast<uInt>(packed.size());
      stream_.next_out = into.data();
      stream_.avail_out = static_cast<uInt>(into.size());
      const int result = inflate(&stream_, Z_NO_FLUSH);
      input_.Took(packed.size() - stream_.avail_in);
      const size_t gave = into.size() - stream_.avail_out;
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return Error{"its gzip data is damaged"};
      if (result == Z_STREAM_END) {
        inside_ = false;
        inflateReset(&stream_);
      }
      VRAMSCOPE_TRY(input_.Gave(gave));
      if (gave > 0) return gave;
    }
  }

 private:
  PackedInput input_;
  z_stream stream_{};
  bool inside_ = false;  // a member has begun and not ended
};

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> packed)
      : input_(std::move(packed)), stream_(ZSTD_createDStream()) {
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kMaxZstdWindowLog);
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;

  Result<size_t> Read(std::span<uint8_t> into) override {
    for (;;) {
      const std::span<uint8_t> packed = VRAMSCOPE_TRY(input_.Next());
      if (packed.empty() && !inside_) return size_t{0};
      ZSTD_inBuffer in{packed.data(), packed.size(), 0};
      ZSTD_outBuffer out{into.data(), into.size(), 0};
      const size_t result = ZSTD_decompressStream(stream_, &out, &in);
      if (ZSTD_isError(result) != 0) {
        return Error{std::string("its zstd data cannot be read (") + ZSTD_getErrorName(result) +
                     "); unpack it with `zstd -d` first"};
      }
      input_.Took(in.pos);
      if (packed.empty() && out.pos == 0) return Error{"its zstd data is cut off"};
      inside_ = result != 0;
      VRAMSCOPE_TRY(input_.Gave(out.pos));
      if (out.pos > 0) return out.pos;
    }
  }

 private:
  PackedInput input_;
  ZSTD_DStream* stream_;
  bool inside_ = false;
};

// First the bytes that were already read, then the rest.
class Rejoined final : public ByteSource {
 public:
  Rejoined(std::vector<uint8_t> head, std::unique_ptr<ByteSource> rest)
      : head_(std::move(head)), rest_(std::move(rest)) {}
  Result<size_t> Read(std::span<uint8_t> into) override {
    if (at_ == head_.size()) return rest_->Read(into);
    const size_t count = std::min(into.size(), head_.size() - at_);
    std::copy_n(head_.begin() + static_cast<ptrdiff_t>(at_), count, into.begin());
    at_ += count;
    return count;
  }

 private:
  std::vector<uint8_t> head_;
  std::unique_ptr<ByteSource> rest_;
  size_t at_ = 0;
};

bool BeginsWith(const std::vector<uint8_t>& bytes, std::initializer_list<uint8_t> magic) {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

}  // namespace

Result<std::unique_ptr<ByteSource>> Unpacked(std::unique_ptr<ByteSource> packed) {
  constexpr size_t kMagicBytes = 4;
  std::vector<uint8_t> head;
  while (head.size() < kMagicBytes) {
    uint8_t more[kMagicBytes];
    const size_t got = VRAMSCOPE_TRY(packed->Read(std::span(more).first(kMagicBytes - head.size())));
    if (got == 0) break;
    head.insert(head.end(), more, more + got);
  }
  const bool gzip = BeginsWith(head, {0x1f, 0x8b});
  const bool zstd = BeginsWith(head, {0x28, 0xb5, 0x2f, 0xfd});
  std::unique_ptr<ByteSource> whole = std::make_unique<Rejoined>(std::move(head), std::move(packed));
  if (gzip) return std::unique_ptr<ByteSource>(std::make_unique<GzipSource>(std::move(whole)));
  if (zstd) return std::unique_ptr<ByteSource>(std::make_unique<ZstdSource>(std::move(whole)));
  return whole;
}

}  // namespace vramscope::snapshot
