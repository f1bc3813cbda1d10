// SPDX-License-Identifier: Apache-2.0
// Limits the memory that reading a file may take: a small start amount, plus twice the bytes read so far.
//
// A malicious file could request far more memory than its size. Everything that grows while reading is
// charged to the budget. A file that exceeds the budget is refused.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::snapshot {

class Budget {
 public:
  static constexpr uint64_t kStart = uint64_t{24} << 20;
  static constexpr uint64_t kPerByte = 2;

  // Returns false if the budget is exceeded. The caller must then stop reading.
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
