// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/address_space.h"

#include <iterator>

namespace vramscope::simulated {

AddressSpace::AddressSpace(uint64_t begin, uint64_t bytes, uint64_t granule)
    : granule_(granule), free_bytes_(bytes) {
  if (bytes != 0) free_[begin] = bytes;
}

uint64_t AddressSpace::Take(uint64_t bytes, uint64_t alignment) {
  const uint64_t wanted = Rounded(bytes);
  if (bytes == 0 || wanted < bytes) return 0;
  const uint64_t step = alignment > granule_ ? alignment : granule_;
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const uint64_t address = (range->first + step - 1) / step * step;
    const uint64_t skipped = address - range->first;
    if (skipped > range->second || range->second - skipped < wanted) continue;
    Cut(range, address, wanted);
    return address;
  }
  return 0;
}

bool AddressSpace::TakeAt(uint64_t address, uint64_t bytes) {
  const uint64_t wanted = Rounded(bytes);
  auto range = free_.upper_bound(address);
  if (bytes == 0 || address % granule_ != 0 || range == free_.begin()) return false;
  --range;
  const uint64_t skipped = address - range->first;
  if (skipped > range->second || range->second - skipped < wanted) return false;
  Cut(range, address, wanted);
  return true;
}

void AddressSpace::Cut(std::map<uint64_t, uint64_t>::iterator range, uint64_t address, uint64_t bytes) {
  const uint64_t begin = range->first;
  const uint64_t end = begin + range->second;
  if (address == begin) {
    free_.erase(range);
  } else {
    range->second = address - begin;
  }
  if (address + bytes < end) free_[address + bytes] = end - address - bytes;
  free_bytes_ -= bytes;
}

void AddressSpace::Give(uint64_t address, uint64_t bytes) {
  const uint64_t given = Rounded(bytes);
  free_bytes_ += given;
  auto range = free_.emplace(address, given).first;
  const auto after = std::next(range);
  if (after != free_.end() && address + given == after->first) {
    range->second += after->second;
    free_.erase(after);
  }
  if (range == free_.begin()) return;
  const auto before = std::prev(range);
  if (before->first + before->second == address) {
    before->second += range->second;
    free_.erase(range);
  }
}

}  // namespace vramscope::simulated
