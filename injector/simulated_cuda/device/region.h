// SPDX-License-Identifier: Apache-2.0
// The host memory of one device: a range of addresses that costs nothing until written.
//
// Programs read back what they uploaded. PyTorch reuses addresses, and no kernel fills them. A program must
// read zeros there, not an earlier upload, which once gave nonzero 1,034,228,774 rows. So written parts are
// tracked. Clearing unwritten memory costs one lookup.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::simulated {

inline constexpr uint64_t kGranule = uint64_t{2} << 20;  // of cudaMalloc and cuMemCreate on every GPU

class Region {
 public:
  // Reserves addresses, the same in every run if free. bytes() is 0 if the process may have no more memory
  // (ulimit -v).
  void Reserve(int device);

  [[nodiscard]] bool Contains(uint64_t address) const { return address - begin_ < bytes_; }
  // True if all of [address, address + bytes) is in the region.
  [[nodiscard]] bool Contains(uint64_t address, uint64_t bytes) const {
    return Contains(address) && bytes <= begin_ + bytes_ - address;
  }
  [[nodiscard]] uint64_t begin() const { return begin_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

  // Call before writing anything but zeros.
  void MarkWritten(uint64_t address, uint64_t bytes);
  // Makes the range read as zeros. Frees pages that lie wholly in it.
  void Clear(uint64_t address, uint64_t bytes);

  // Maps the first `bytes` of a file over whole granules: processes that map the same file share contents.
  // With `keep`, copies the contents into the file first; concurrent writes may be lost. False: nothing was
  // changed.
  bool Share(uint64_t address, uint64_t bytes, int file, bool keep);
  // Makes the granules this process's own again, and zero.
  void Unshare(uint64_t address, uint64_t bytes);

 private:
  // The granules of the range, as indices; bytes is not 0.
  struct Granules {
    uint64_t first, count;
  };
  [[nodiscard]] Granules GranulesOf(uint64_t address, uint64_t bytes) const;
  void ClearPages(uint64_t address, uint64_t bytes);
  [[nodiscard]] bool WasWritten(uint64_t address, uint64_t bytes) const;
  void ForgetWritten(uint64_t address, uint64_t bytes);

  uint64_t begin_ = 0;
  uint64_t bytes_ = 0;
  uint8_t* written_ = nullptr;  // by granule: racing writers set the same value
  uint8_t* shared_ = nullptr;   // by granule: 1 = belongs to a file
};

}  // namespace vramscope::simulated
