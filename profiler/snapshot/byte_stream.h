// SPDX-License-Identifier: Apache-2.0
// The bytes of a file from front to back, unpacked on the way if it is a .gz or .zst file, seen through a
// window of 256 KiB.
//
// Why a window and not a mapping: what was read is not needed again, a file that is cut while it is read must
// not be a SIGBUS, and a compressed file of 100 MB may hold 3 GB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::snapshot {

// Gives bytes; 0 at the end.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual Result<size_t> Read(std::span<uint8_t> into) = 0;
};

// Of a file; the sentence of an error names it.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> OpenFile(const std::string& path);
// `bytes` must outlive it.
[[nodiscard]] std::unique_ptr<ByteSource> MemorySource(std::span<const uint8_t> bytes);
// What `packed` unpacks to if it begins as gzip or zstd do, otherwise its own bytes. A file that expands more
// than a thousandfold is refused: the best that was seen on a snapshot is 34.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> Unpacked(std::unique_ptr<ByteSource> packed);

class ByteStream {
 public:
  // Behind the end of the window are this many bytes more that may be read and mean nothing.
  static constexpr size_t kPadding = 64;
  static constexpr size_t kWindow = size_t{256} << 10;
  static constexpr size_t kMaxWindow = size_t{16} << 20;

  explicit ByteStream(std::unique_ptr<ByteSource> source);

  // The window. Valid until the next Fill.
  [[nodiscard]] const uint8_t* begin() const { return buffer_.data() + begin_; }
  [[nodiscard]] const uint8_t* end() const { return buffer_.data() + end_; }
  // Forgets the bytes in front of `from` and reads on until `bytes` (at most kMaxWindow) are in the window or
  // the file ends.
  [[nodiscard]] Status Fill(const uint8_t* from, size_t bytes);
  [[nodiscard]] bool at_end() const { return at_end_; }  // the window holds the last bytes of the file
  // Of the window's begin.
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
