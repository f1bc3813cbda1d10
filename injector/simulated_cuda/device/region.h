// SPDX-License-Identifier: Apache-2.0
// The host memory that stands for the memory of one device: a range of addresses that costs nothing until
// something is written to it.
//
// Why real memory at all: programs read back what they have uploaded, and a pointer that faults would end
// them. Why it tracks written parts: PyTorch reuses addresses, and no kernel fills them. A program must read
// zeros there, not an earlier upload (a count of 1,034,228,774 rows for nonzero was such a leftover).
// Clearing memory that was never written costs one lookup.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::simulated {

inline constexpr uint64_t kGranule = uint64_t{2}
                                     << 20;  // of cudaMalloc and cuMemCreate on every GPU of gpus.def

class Region {
 public:
  // Reserves addresses, the same in every run if they are free. bytes() is 0 if the process may have no more
  // memory (ulimit -v).
  void Reserve(int device);

  [[nodiscard]] bool Contains(uint64_t address) const { return address - begin_ < bytes_; }
  // True if the whole range [address, address + bytes) is in the region.
  [[nodiscard]] bool Contains(uint64_t address, uint64_t bytes) const {
    return Contains(address) && bytes <= begin_ + bytes_ - address;
  }
  [[nodiscard]] uint64_t begin() const { return begin_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }

  // Call it before writing anything other than zeros there.
  void MarkWritten(uint64_t address, uint64_t bytes);
  // From now on the range reads as zeros. Frees the host's pages that lie wholly in it.
  void Clear(uint64_t address, uint64_t bytes);

  // Maps the first `bytes` of a file over whole granules, so that every process that does the same sees the
  // same contents. With `keep`, the contents are copied into the file first; concurrent writes of other
  // threads may be lost. False: nothing has changed.
  bool Share(uint64_t address, uint64_t bytes, int file, bool keep);
  // The granules become this process's own again, and zero.
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
  uint8_t* written_ = nullptr;  // one byte per granule: racing writers set the same value
  uint8_t* shared_ = nullptr;   // one byte per granule: 1 = it belongs to a file
};

}  // namespace vramscope::simulated
