// SPDX-License-Identifier: Apache-2.0
// For tests: the start and end of each block of a scene that comes from one block of the recorded step.
#pragma once

#include <gmock/gmock.h>

#include <utility>
#include <vector>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// Returns (start, end) of these blocks, in the order of the scene.
inline std::vector<std::pair<Position, Position>> LivesOf(const Scene& scene, BlockIndex block) {
  std::vector<std::pair<Position, Position>> lives;
  for (const Block& one : scene.blocks)
    if (one.origin == block) lives.emplace_back(one.begin, one.end);
  return lives;
}

// True if the positions differ by at most `places` places.
inline bool IsNear(Position a, Position b, int64_t places = kPlaces / 2 - 1) {
  return Before(a, places) <= b && b <= After(a, places);
}
MATCHER_P(Near, at, "") { return IsNear(arg, at, 2); }

// Matches one element of LivesOf().
inline auto Life(Position begin, Position end) { return testing::Pair(Near(begin), Near(end)); }

}  // namespace vramscope::whatif
