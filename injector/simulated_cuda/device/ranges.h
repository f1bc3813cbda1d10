// SPDX-License-Identifier: Apache-2.0
// Finds the range that contains an address, among non-overlapping ranges ordered by their begin.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace vramscope::simulated {

// `Range` has `bytes`. False if the address lies in no range; `begin` and `bytes` are then unchanged.
template <typename Range>
bool FindRange(const std::map<uint64_t, Range>& ranges, uint64_t address, uint64_t* begin, uint64_t* bytes) {
  auto found = ranges.upper_bound(address);
  if (found == ranges.begin()) return false;
  found = std::prev(found);
  if (address - found->first >= found->second.bytes) return false;
  *begin = found->first;
  *bytes = found->second.bytes;
  return true;
}

}  // namespace vramscope::simulated
