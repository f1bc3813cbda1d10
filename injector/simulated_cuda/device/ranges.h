// SPDX-License-Identifier: Apache-2.0
// Looks for the range that an address lies in, among ranges by their begin that do not overlap.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace vramscope::simulated {

// `Range` has `bytes`. False when the address lies in none; `begin` and `bytes` are then as they were.
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
