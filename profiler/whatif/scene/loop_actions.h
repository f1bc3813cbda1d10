// SPDX-License-Identifier: Apache-2.0
// Requests and frees of a scene in order: the setup, then one step that stands for all.
//
//   length 100, a gradient that lives from 80 to 130: the next step frees it
//
//     step       0          1          2          3
//     window  ├────────┤├────────┤├────────┤├────────┤
//     allocs        80        180       280       380    at 80, lag 0: the block of step w in window w
//     frees               130       230       330        at 30, lag 1: the block of step w - 1 in window w
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// Order at one position: memory is freed first.
enum class What : uint8_t { kFree, kEmptyCache, kAlloc };

struct OnceAction {
  Position at;
  uint32_t block = 0;  // into Scene::blocks
  What what = What::kFree;
};

struct StepAction {
  Position at;         // within a window: from 0 to below the step's length
  uint32_t block = 0;  // into Scene::blocks
  int16_t lag = 0;     // how many windows after the one of the block's own step
  What what = What::kFree;
  bool but_in_first = false;  // the first step has no such block
};

// True if `once` comes before `repeated`, whose window begins `start` events after the first one.
[[nodiscard]] bool ComesBefore(const OnceAction& once, const StepAction& repeated, int64_t start);

struct LoopActions {
  std::vector<OnceAction> setup;  // in order
  std::vector<OnceAction> once;   // in order; within the loop
  std::vector<StepAction> step;   // in order
  int32_t first_window = 0;       // 0; negative if an action of the first step comes before the loop
  bool piles_up = false;          // some blocks of each step are never freed
};
[[nodiscard]] LoopActions ActionsOf(const Scene& scene);

// A place between two actions of a step, and its live blocks.
struct Cut {
  struct Alive {
    uint32_t block = 0;
    int32_t lag = 0;  // from the step this many windows earlier
  };
  size_t place = 0;  // before this action of LoopActions::step
  std::vector<Alive> alive;
  // False if copies of a block from two steps are alive, or an action comes before its own step. Such a cut
  // cannot show that the loop repeats.
  bool usable = false;
};
// The cut with the fewest live blocks, the first on a tie. `at_begin`: the cut at the step's start instead.
[[nodiscard]] Cut FindCut(const LoopActions& actions, size_t blocks, bool at_begin);

}  // namespace vramscope::whatif
