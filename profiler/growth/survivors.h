// SPDX-License-Identifier: Apache-2.0
// The blocks of one code location that are still allocated at the end of the run, grouped by the step that
// allocated them. Used to find leaks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>

namespace vramscope::growth {

struct Survivors {
  std::map<uint32_t, uint64_t> bytes_of_step;  // step number -> bytes
  uint64_t blocks = 0;
  uint64_t bytes = 0;
  uint32_t as_in_step = 0;

  void Add(uint32_t step, uint64_t more) {
    bytes_of_step[step] += more;
    bytes += more;
    ++blocks;
  }
  // Merges pairs of consecutive steps, if all steps form such pairs. Allocations between two steps may count
  // toward either step, so one leak may appear in both. Example: 6, 7, 12, 13, 18, 19 become 7, 13, 19.
  void JoinSides() {
    size_t gap = 0;
    for (auto at = bytes_of_step.begin(); at != bytes_of_step.end() && std::next(at) != bytes_of_step.end();
         ++at, ++gap) {
      if ((std::next(at)->first - at->first == 1) != (gap % 2 == 0)) return;
    }
    if (gap < 2) return;
    for (auto at = bytes_of_step.begin(); at != bytes_of_step.end();) {
      const auto other = std::next(at);
      if (other == bytes_of_step.end()) return;
      other->second += at->second;
      at = std::next(bytes_of_step.erase(at));
    }
  }
  // Adds the blocks of another code location. If `near`, the bytes of a step may be added to a neighboring
  // step, because allocations between two steps may count toward either step.
  void Add(const Survivors& others, bool near) {
    for (const auto& [step, more] : others.bytes_of_step) {
      uint32_t same = step;
      if (near && !bytes_of_step.contains(step)) {
        if (bytes_of_step.contains(step + 1)) same = step + 1;
        if (step > 1 && bytes_of_step.contains(step - 1)) same = step - 1;
      }
      bytes_of_step[same] += more;
    }
    bytes += others.bytes;
    blocks += others.blocks;
    as_in_step = std::max(as_in_step, others.as_in_step);
  }
};

}  // namespace vramscope::growth
