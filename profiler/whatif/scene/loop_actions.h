// SPDX-License-Identifier: Apache-2.0
// Converts a scene to an ordered list of allocations and frees: those of the setup, and those of one step,
// which is repeated.
//
//   a step has a length of 100 events; a gradient lives from 80 to 130, so the next step frees it
//
//     step       0          1          2          3
//     window  ├────────┤├────────┤├────────┤├────────┤
//     allocs        80        180       280       380    at 80, lag 0: allocates the block of the same step
//     frees               130       230       330        at 30, lag 1: frees the block of the previous step
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

// Actions at the same position are sorted in this order, so memory is freed first.
enum class What : uint8_t { kFree, kEmptyCache, kAlloc };

struct OnceAction {
  Position at;
  uint32_t block = 0;  // index in Scene::blocks
  What what = What::kFree;
};

struct StepAction {
  Position at;         // relative to the window's begin: from 0 to less than the step's length
  uint32_t block = 0;  // index in Scene::blocks
  int16_t lag = 0;     // how many windows after its own window the block's action happens
  What what = What::kFree;
  bool but_in_first = false;  // true: this action does not happen for the first step
};

// True if `once` comes before `repeated`. The window of `repeated` begins `start` events after the first
// window.
[[nodiscard]] bool ComesBefore(const OnceAction& once, const StepAction& repeated, int64_t start);

struct LoopActions {
  std::vector<OnceAction> setup;  // actions before the loop, in order
  std::vector<OnceAction> once;   // actions during the loop that are not repeated, in order
  std::vector<StepAction> step;   // actions that each step repeats, in order
  int32_t first_window = 0;       // 0; negative if a step has actions before the loop
  bool piles_up = false;          // true: some blocks of each step are never freed
};
[[nodiscard]] LoopActions ActionsOf(const Scene& scene);

// A place between two actions of a step, and the blocks that are live there.
struct Cut {
  struct Alive {
    uint32_t block = 0;
    int32_t lag = 0;  // the block belongs to the step this many windows earlier
  };
  size_t place = 0;  // the cut lies before this index of LoopActions::step
  std::vector<Alive> alive;
  // False if copies of one block from two steps are live here, or if an action comes before its own step.
  // Such a cut cannot show that the loop repeats.
  bool usable = false;
};
// Returns the cut with the fewest live blocks, the first one on a tie. If `at_begin`, returns the cut at the
// step's begin.
[[nodiscard]] Cut FindCut(const LoopActions& actions, size_t blocks, bool at_begin);

}  // namespace vramscope::whatif
