// SPDX-License-Identifier: Apache-2.0
// Moments of a loop in order, with what makes room at a moment before what needs it.
//
// Why not std::sort: a plan puts some hundred thousand moments in order for each of a hundred questions, and
// comparing them took half of its time. A loop's moments lie about evenly over its length, so each is put
// straight to where it would then be (as flash sort does), and only neighbours are compared:
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
  uint32_t kind = 0;   // of moments at the same position: the lowest first; below 4
  uint32_t index = 0;  // the caller's own
};

// Sorted by position, then by kind; those that are equal in both stay in the order they had.
void PutInOrder(std::vector<Moment>& moments);

}  // namespace vramscope::whatif
