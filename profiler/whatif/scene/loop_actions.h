// SPDX-License-Identifier: Apache-2.0
// The requests and frees of a scene in order: first the setup, then one step that stands for all steps.
//
// Why one step: a replay runs four steps that differ only in the number of the step. Sorting the actions of
// one step and repeating them takes a quarter of the time that sorting the actions of all four steps took.
//
//   length 100, a block that lives from 80 to 130 (its gradient is freed by the next step):
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

// In the order in which they happen at one position: memory is freed first.
enum class What : uint8_t { kFree, kEmptyCache, kAlloc };

// An action that happens once.
struct OnceAction {
  Position at;
  uint32_t block = 0;  // into Scene::blocks
  What what = What::kFree;
};

// An action that each step of the loop repeats.
struct StepAction {
  Position at;         // within a window: at least 0 and below the length of a step
  uint32_t block = 0;  // into Scene::blocks
  int16_t lag = 0;     // number of windows after the window of the block's own step
  What what = What::kFree;
  bool but_in_first = false;  // the first step has no such block
};

// True if `once` comes before `repeated`, whose window begins `start` events after the first one.
[[nodiscard]] bool ComesBefore(const OnceAction& once, const StepAction& repeated, int64_t start);

struct LoopActions {
  std::vector<OnceAction> setup;  // in order
  std::vector<OnceAction> once;   // in order; within the loop
  std::vector<StepAction> step;   // in order
  int32_t first_window = 0;       // 0, or negative if an action of the first step is before the loop
  bool piles_up = false;          // some blocks of each step are never freed
};
[[nodiscard]] LoopActions ActionsOf(const Scene& scene);

// A place between two actions of a step, and the blocks that are alive there.
struct Cut {
  struct Alive {
    uint32_t block = 0;
    int32_t lag = 0;  // the block belongs to the step this many windows earlier
  };
  size_t place = 0;  // before this action of LoopActions::step
  std::vector<Alive> alive;
  // False if copies of a block from two steps are alive there, or if an action comes before its own step. The
  // state there then cannot show that the loop repeats.
  bool usable = false;
};
// The cut with the fewest live blocks; the first one if several are equal. `at_begin`: the start of the step
// instead.
[[nodiscard]] Cut FindCut(const LoopActions& actions, size_t blocks, bool at_begin);

}  // namespace vramscope::whatif
