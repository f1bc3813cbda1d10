// SPDX-License-Identifier: Apache-2.0
// Begin and end of what a scene has of a block of the step, as tests look at them.
#pragma once

#include <gmock/gmock.h>

#include <utility>
#include <vector>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// Of each, in the order of the scene.
inline std::vector<std::pair<Position, Position>> LivesOf(const Scene& scene, uint32_t block) {
  std::vector<std::pair<Position, Position>> lives;
  for (const Block& one : scene.blocks)
    if (one.origin == block) lives.emplace_back(one.begin, one.end);
  return lives;
}

// Matches one of them, apart from a hair.
inline auto Life(Position begin, Position end) {
  constexpr double kNear = 0.01;
  return testing::Pair(testing::DoubleNear(begin, kNear), testing::DoubleNear(end, kNear));
}

}  // namespace vramscope::whatif
