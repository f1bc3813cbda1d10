// SPDX-License-Identifier: Apache-2.0
// Sorts the allocations and frees of a repeated step (moments) by their position. At the same position,
// moments that free memory come first.
//
// Moments are spread evenly over the step. So each moment is first put near its final place (as in flash
// sort), and only neighbors are compared:
//
//   0                                   length          the step is divided into as many parts as moments
//   ├──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┤               each moment is put into its part
//    a  bc    d     efg h        i  j                   only bc and efg are compared
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

struct Moment {
  Position at;
  uint32_t kind = 0;   // order at the same position, lowest first; 0 to 3
  uint32_t index = 0;  // a number that the caller may use
};

// Sorts by position, then by kind. The sort is stable.
void PutInOrder(std::vector<Moment>& moments);

}  // namespace vramscope::whatif
