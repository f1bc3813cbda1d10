// SPDX-License-Identifier: Apache-2.0
// A training loop as blocks with positions in time: levers change it, and answers are computed from it.
//
// Why one step stands for all: the steps of a loop repeat. A block that one step allocates and the next one
// frees becomes one block that ends after the step's length. The start of a step then needs no special case,
// and the loop can be repeated as often as an answer needs, starting with an empty allocator.
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
  Position end = kForever;  // for kEachStep: at most one length after the step that allocated it
  uint64_t bytes = 0;       // as requested, not rounded
  BlockIndex origin;        // the block of the step that this block is, or is a copy of
  Birth birth = Birth::kEachStep;
  classify::Category category = classify::Category::kUnattributed;
  uint16_t stream = 0;
  bool but_in_first = false;  // for kEachStep: the first step does not allocate it
  bool piles_up = false;      // for kEachStep: nothing frees it

  // True if it is freed before the loop or in its first steps: only the holes that it leaves matter.
  [[nodiscard]] bool Passes() const { return birth != Birth::kEachStep && end < kForever; }
};

// Number of steps that a replay runs from an empty allocator (replay_scene.cc explains why).
inline constexpr uint32_t kReplayedSteps = 4;

// A part of forward that backward recomputes: autograd saves none of its results, only its inputs.
struct Again {
  Position begin = 0;
  Position end = 0;
  Position at = 0;        // in backward
  Position released = 0;  // when the last of its nodes releases what it saved
  Position unwound = 0;   // when the recomputing function has returned
  // Inputs (blocks of the step) that stay longer because a module holds a graph that saved them, and the time
  // until which they stay.
  std::vector<std::pair<BlockIndex, Position>> held;
};

// The phases of a step. Networks that are trained in turns, as in a GAN, each have their own phases.
// Everything between two backward passes or optimizer steps is the forward of the next backward pass.
struct Phases {
  int64_t length = 0;             // of the step, in events
  std::vector<Window> forward;    // one per backward pass; a single one if the program only runs forward
  std::vector<Window> backward;   // in order
  std::vector<Window> optimizer;  // in order, as in the step
};

// Levers that insert time move the phases.
struct Scene : Phases {
  std::vector<Block> blocks;
  std::string settings;  // settings of the allocator
  std::vector<Position> empty_cache;
  std::vector<Again> again;        // in order
  bool optimizer_on_host = false;  // the device has neither optimizer state nor the optimizer's temporaries
  uint32_t micro_batches = 1;      // at most four are written out: the last one also stands for the rest
};

// The recorded step, unchanged. The scene is a copy, so `step` need not outlive it.
[[nodiscard]] Scene MakeScene(const Step& step);

// The most bytes that live blocks request at one moment of any step after the first. Each block is rounded up
// to the allocator's 512 bytes.
struct Peak {
  uint64_t bytes = 0;
  Position at = 0;
  std::string phase;  // "forward", "backward", "optimizer" or "other"
  classify::CategoryBytes categories{};
};
[[nodiscard]] Peak PeakOf(const Scene& scene);
// The bytes that PeakOf sums, at one given moment.
[[nodiscard]] uint64_t LiveAt(const Scene& scene, Position at);

// Four steps of the loop, replayed through PyTorch's caching allocator from an empty state.
struct Replayed {
  uint64_t reserved_peak = 0;
  uint64_t allocated_peak =
      0;  // as torch.cuda.max_memory_allocated counts it: includes remainders not worth splitting
  uint64_t driver_calls = 0;   // segments allocated and freed in the last step
  uint64_t reserved_then = 0;  // reserved bytes at the highest allocation; `reserved_peak`: at any moment
};

// The allocator's counters from one of its events to the next.
struct UseAt {
  Position at = 0;  // within the step
  uint64_t allocated = 0;
  uint64_t reserved = 0;
  classify::CategoryBytes categories{};  // sums to `allocated`
};
// The replayed step with the highest allocation; the last one if several are equal. Its highest `allocated`
// is Replayed::allocated_peak, unless that peak was before the first step.
struct UseOverStep : Phases {  // phases of the scene
  std::vector<UseAt> points;   // in order; the first one is the start of the step
};

// Fills `over_step` if it is given: about 100 bytes per event of the step. Fails with one sentence if the
// release rejects the settings. If more than `most_reserved` bytes are reserved, the replay stops and returns
// the peaks so far.
[[nodiscard]] Result<Replayed> ReplayScene(const Scene& scene, const Step& step,
                                           UseOverStep* over_step = nullptr,
                                           uint64_t most_reserved = UINT64_MAX);

}  // namespace vramscope::whatif
