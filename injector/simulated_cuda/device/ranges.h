// SPDX-License-Identifier: Apache-2.0
// Finds the memory range that contains an address, in a map of non-overlapping ranges. Each key of the map is
// a range's first address.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace vramscope::simulated {

// `Range`: a struct with a field `bytes`. If no range contains `address`, returns false and leaves `*begin`
// and `*bytes` unchanged.
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
