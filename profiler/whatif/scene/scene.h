// SPDX-License-Identifier: Apache-2.0
// A training loop as blocks with positions in time. Levers change it, and answers are computed from it.
//
// One step stands for all. A block that the next step frees ends after the step's length.
//
//   position 0                  length                  2 x length
//   setup      ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━▶   parameters: there before the first step
//   once              ┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━▶   optimizer state: born in the first step
//   each step     ├─activation─┤         ├─activation─┤
//                     ├─gradient──┼─┤        ├─gradient──┼─┤      freed by the next step's zero_grad
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

enum class Birth : uint8_t { kSetup, kOnce, kEachStep };

struct Block {
  Position begin = 0;       // for kSetup: before 0
  Position end = kForever;  // for kEachStep: at most one length after its own step
  uint64_t bytes = 0;       // as requested, not rounded
  BlockIndex origin;        // the block of the step that this is, or is a copy of
  Birth birth = Birth::kEachStep;
  classify::Category category = classify::Category::kUnattributed;
  uint16_t stream = 0;
  bool but_in_first = false;  // for kEachStep: not in the first step
  bool piles_up = false;      // for kEachStep: nothing frees it

  // True if freed before the loop or in its first steps: only its hole matters.
  [[nodiscard]] bool Passes() const { return birth != Birth::kEachStep && end < kForever; }
};

// Steps that a replay runs from an empty allocator (see replay_scene.cc).
inline constexpr uint32_t kReplayedSteps = 4;

// A part of forward that backward recomputes. Autograd saves only its inputs.
struct Again {
  Position begin = 0;
  Position end = 0;
  Position at = 0;        // in backward
  Position released = 0;  // when its last node has released what it saved
  Position unwound = 0;   // when the recomputing function has returned
  // Inputs (blocks of the step) that stay longer because a module holds their graph, and until when.
  std::vector<std::pair<BlockIndex, Position>> held;
};

// The phases of a step. Networks trained in turns, as in a GAN, have separate phases. Everything between two
// backward passes or optimizer steps is the next backward's forward.
struct Phases {
  int64_t length = 0;             // of the step, in events
  std::vector<Window> forward;    // one per backward pass; a single one if there is only forward
  std::vector<Window> backward;   // in order
  std::vector<Window> optimizer;  // in order, as in the step
};

// Levers that insert time move the phases.
struct Scene : Phases {
  std::vector<Block> blocks;
  std::string settings;  // settings of the allocator
  std::vector<Position> empty_cache;
  std::vector<Again> again;        // in order
  bool optimizer_on_host = false;  // neither optimizer state nor its temporaries are on the device
  uint32_t micro_batches = 1;      // `blocks` has at most four: the last stands for the rest
};

// The recorded step, unchanged. `step` need not outlive the scene.
[[nodiscard]] Scene MakeScene(const Step& step);

// The most live bytes in any step after the first. Blocks are rounded up to 512 bytes.
struct Peak {
  uint64_t bytes = 0;
  Position at = 0;
  std::string phase;  // "forward", "backward", "optimizer" or "other"
  classify::CategoryBytes categories{};
};
[[nodiscard]] Peak PeakOf(const Scene& scene);
// The sum of live bytes at one moment, as in PeakOf.
[[nodiscard]] uint64_t LiveAt(const Scene& scene, Position at);

// Four steps of the loop, replayed through PyTorch's caching allocator from an empty state.
struct Replayed {
  uint64_t reserved_peak = 0;
  uint64_t allocated_peak = 0;  // as torch.cuda.max_memory_allocated: includes unsplit remainders
  uint64_t driver_calls = 0;    // segments allocated and freed in the last step
  uint64_t reserved_then = 0;   // reserved bytes at the highest allocation; `reserved_peak`: at any moment
};

// The allocator's counters from one of its events to the next.
struct UseAt {
  Position at = 0;  // within the step
  uint64_t allocated = 0;
  uint64_t reserved = 0;
  classify::CategoryBytes categories{};  // sums to `allocated`
};
// The replayed step with the highest allocation, the last on a tie. The highest `allocated` is
// Replayed::allocated_peak, unless that peak came before the first step.
struct UseOverStep : Phases {  // phases of the scene
  std::vector<UseAt> points;   // in order, from the start of the step
};

// Fills `over_step` if given: about 100 bytes per event. Fails if the release rejects the settings. Stops
// with the peaks so far when more than `most_reserved` bytes are reserved.
[[nodiscard]] Result<Replayed> ReplayScene(const Scene& scene, const Step& step,
                                           UseOverStep* over_step = nullptr,
                                           uint64_t most_reserved = UINT64_MAX);

}  // namespace vramscope::whatif
