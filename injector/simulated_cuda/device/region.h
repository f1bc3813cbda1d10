// SPDX-License-Identifier: Apache-2.0
// Host memory that holds the contents of one simulated device. It is a range of addresses that uses no
// physical memory until written.
//
// A program can read back the data that it copied to the device. Freed memory must read as zeros, because no
// kernel overwrites it: with old contents, nonzero() once returned 1,034,228,774 rows. The region tracks the
// written parts, so that clearing unwritten memory costs one lookup.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::simulated {

inline constexpr uint64_t kGranule = uint64_t{2} << 20;  // granularity of cudaMalloc and cuMemCreate

class Region {
 public:
  // Reserves the addresses. They are the same in every run if they are free. If the process may not have so
  // much memory (ulimit -v), bytes() is 0.
  void Reserve(int device);

  [[nodiscard]] bool Contains(uint64_t address) const { return address - begin_ < bytes_; }
  // True if all of [address, address + bytes) is in the region.
  [[nodiscard]] bool Contains(uint64_t address, uint64_t bytes) const {
    return Contains(address) && bytes <= begin_ + bytes_ - address;
  }
  [[nodiscard]] uint64_t begin() const { return begin_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

  // Call before writing to the range, unless only zeros are written.
  void MarkWritten(uint64_t address, uint64_t bytes);
  // Makes the range read as zeros. Frees the pages that lie completely in the range.
  void Clear(uint64_t address, uint64_t bytes);

  // Maps the first `bytes` of a file at `address`. Processes that map the same file share the contents. The
  // range must be whole granules. With `keep`, first copies the present contents into the file; concurrent
  // writes may be lost. Returns false, and leaves the mapping unchanged, if an operation fails.
  bool Share(uint64_t address, uint64_t bytes, int file, bool keep);
  // Replaces the shared granules by private memory that reads as zeros.
  void Unshare(uint64_t address, uint64_t bytes);

 private:
  // Index of the first granule of a range, and number of granules. The range must not be empty.
  struct Granules {
    uint64_t first, count;
  };
  [[nodiscard]] Granules GranulesOf(uint64_t address, uint64_t bytes) const;
  void ClearPages(uint64_t address, uint64_t bytes);
  [[nodiscard]] bool WasWritten(uint64_t address, uint64_t bytes) const;
  void ForgetWritten(uint64_t address, uint64_t bytes);

  uint64_t begin_ = 0;
  uint64_t bytes_ = 0;
  uint8_t* written_ = nullptr;  // one byte per granule: 1 = written; writing threads set the same value
  uint8_t* shared_ = nullptr;   // one byte per granule: 1 = mapped from a file
};

}  // namespace vramscope::simulated
