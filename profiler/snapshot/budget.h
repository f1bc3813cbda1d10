// SPDX-License-Identifier: Apache-2.0
// How much memory reading may take: twice the bytes that were read so far, and a little for a start.
//
// Why: one byte of a pickle can ask for a list, a memo entry or a copy of a mark; a file that was made to
// hurt asks for much more than it pays for. Everything that grows is charged here, and a file that asks for
// more than its size explains is refused.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::snapshot {

class Budget {
 public:
  static constexpr uint64_t kStart = uint64_t{24} << 20;
  static constexpr uint64_t kPerByte = 2;

  // False when it is too much; then the reading ends, so nothing is given back.
  [[nodiscard]] bool Charge(uint64_t bytes) {
    used_ += bytes;
    return used_ <= kStart + kPerByte * read_;
  }
  void Read(uint64_t bytes) { read_ += bytes; }
  [[nodiscard]] uint64_t bytes_read() const { return read_; }

 private:
  uint64_t used_ = 0;
  uint64_t read_ = 0;
};

}  // namespace vramscope::snapshot
