// SPDX-License-Identifier: Apache-2.0
// The bytes of a file from start to end, through a window of 256 KiB. Decompresses .gz and .zst.
//
// Unlike a mapped file, a stream survives truncation of the file while it is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::snapshot {

// Provides bytes; Read returns 0 at the end.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual Result<size_t> Read(std::span<uint8_t> into) = 0;
};

// False for a pipe.
[[nodiscard]] bool IsRegularFile(const std::string& path);
// The error names the file.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);
// `bytes` must outlive the source.
[[nodiscard]] std::unique_ptr<ByteSource> MemorySource(std::span<const uint8_t> bytes);
// The decompressed bytes if `packed` begins as gzip or zstd, otherwise its own bytes. Refuses a file that
// expands more than a thousandfold (most seen for a snapshot: 34).
[[nodiscard]] Result<std::unique_ptr<ByteSource>> Unpacked(std::unique_ptr<ByteSource> packed);

class ByteStream {
 public:
  // Bytes after the window's end that may be read; their values mean nothing.
  static constexpr size_t kPadding = 64;
  static constexpr size_t kWindow = size_t{256} << 10;
  static constexpr size_t kMaxWindow = size_t{16} << 20;

  explicit ByteStream(std::unique_ptr<ByteSource> source);

  // The window. Valid until the next Fill.
  [[nodiscard]] const uint8_t* begin() const { return buffer_.data() + begin_; }
  [[nodiscard]] const uint8_t* end() const { return buffer_.data() + end_; }
  // Drops the bytes before `from`. Reads until the window has `bytes` (at most kMaxWindow) or the file ends.
  [[nodiscard]] Status Fill(const uint8_t* from, size_t bytes);
  [[nodiscard]] bool at_end() const { return at_end_; }  // the window holds the last bytes of the file
  // File offset of the window's begin.
  [[nodiscard]] uint64_t offset() const { return offset_; }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<uint8_t> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  uint64_t offset_ = 0;
  bool at_end_ = false;
};

}  // namespace vramscope::snapshot
