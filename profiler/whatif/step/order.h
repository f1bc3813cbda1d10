// SPDX-License-Identifier: Apache-2.0
// Sorts moments of a loop. At one position, moments that free memory come first.
//
// Moments are spread evenly over the loop, so each is put near its final place (as in flash sort). Only
// neighbors are compared:
//
//   0                                   length          as many equal parts as moments
//   ├──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┤               moments are counted per part, then put there
//    a  bc    d     efg h        i  j                   only bc and efg are compared
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

struct Moment {
  Position at;
  uint32_t kind = 0;   // order at the same position: lowest first; below 4
  uint32_t index = 0;  // free for the caller
};

// Sorts by position, then by kind; stable.
void PutInOrder(std::vector<Moment>& moments);

}  // namespace vramscope::whatif
