// SPDX-License-Identifier: Apache-2.0
// Sorts moments of a loop; at equal positions, moments that free memory come before those that need it.
//
// Why not std::sort: a plan sorts several hundred thousand moments for each of a hundred questions, and
// comparisons took half of its time. A loop's moments are spread about evenly over its length. So each moment
// is put directly near its final place (as in flash sort), and only neighbors are compared:
//
//   0                                   length          as many equal parts as moments
//   ├──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┬──┤               counted, then filled in the order they come
//    a  bc    d     efg h        i  j                   only bc and efg are compared
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

struct Moment {
  Position at;
  uint32_t kind = 0;   // order of moments at the same position: lowest first; below 4
  uint32_t index = 0;  // free for the caller
};

// Sorts by position, then by kind; stable.
void PutInOrder(std::vector<Moment>& moments);

}  // namespace vramscope::whatif
