// SPDX-License-Identifier: Apache-2.0
// Reads a file from start to end through a window of 256 KiB. Decompresses gzip and zstd.
//
// A truncation of the file during the reading only ends the stream. With a mapped file, it would raise
// SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::snapshot {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads the next bytes into `into`. Returns the number of bytes read; 0 at the end.
  virtual Result<size_t> Read(std::span<uint8_t> into) = 0;
};

// False for a pipe.
[[nodiscard]] bool IsRegularFile(const std::string& path);
// The error names the file.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);
// `bytes` must outlive the source.
[[nodiscard]] std::unique_ptr<ByteSource> MemorySource(std::span<const uint8_t> bytes);
// Returns the decompressed bytes of `packed` if it begins like gzip or zstd data; otherwise its bytes
// unchanged. Reading returns an error if the decompressed data is more than 1000 times as large. The largest
// factor that we have seen in a snapshot is 34.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> Unpacked(std::unique_ptr<ByteSource> packed);

class ByteStream {
 public:
  // Number of bytes after the end of the window that may be read. Their values are undefined.
  static constexpr size_t kPadding = 64;
  static constexpr size_t kWindow = size_t{256} << 10;
  static constexpr size_t kMaxWindow = size_t{16} << 20;

  explicit ByteStream(std::unique_ptr<ByteSource> source);

  // Begin and end of the window. Valid until the next Fill.
  [[nodiscard]] const uint8_t* begin() const { return buffer_.data() + begin_; }
  [[nodiscard]] const uint8_t* end() const { return buffer_.data() + end_; }
  // Moves the begin of the window to `from`. Then reads until the window has `bytes` bytes (at most
  // kMaxWindow) or the file ends.
  [[nodiscard]] Status Fill(const uint8_t* from, size_t bytes);
  // True if the window contains the last bytes of the file.
  [[nodiscard]] bool at_end() const { return at_end_; }
  // Offset of the window's begin in the (decompressed) file.
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
