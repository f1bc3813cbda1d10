// SPDX-License-Identifier: Apache-2.0
// A training loop as blocks with a place in time: what levers change, and what the answers are computed from.
//
// Why one step stands for all: the steps of a loop repeat, so a block that one step makes and the next one
// frees is one block whose end lies beyond the step's length. Nothing then has to be said about a step's
// begin, and the loop can be written out as often as an answer needs it, from an empty allocator on.
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
  Position begin = 0;              // of kSetup: before 0
  Position end = kForever;         // of kEachStep: at most one length behind the step that made it
  uint64_t bytes = 0;              // as requested, not rounded
  uint32_t origin = model::kNone;  // the block of the step that it is, or is a copy of
  Birth birth = Birth::kEachStep;
  classify::Category category = classify::Category::kUnattributed;
  uint16_t stream = 0;
  bool but_in_first = false;  // of kEachStep: the first step does not make it
  bool piles_up = false;      // of kEachStep: nothing frees it

  // Gone before the loop begins, or in its first steps: only the holes that it leaves matter.
  [[nodiscard]] bool Passes() const { return birth != Birth::kEachStep && end < kForever; }
};

// Steps that a replay writes out, from empty (replay_scene.cc says why).
inline constexpr uint32_t kReplayedSteps = 4;

// A part of forward that backward computes again: autograd keeps nothing of it, but for what goes into it.
struct Again {
  Position begin = 0;
  Position end = 0;
  Position at = 0;        // in backward
  Position released = 0;  // when the last of its nodes lets go
  Position unwound = 0;   // when what computes it again has returned
  // Of what goes into it, the blocks of the step that a graph keeps which a module holds, and until when.
  std::vector<std::pair<uint32_t, Position>> held;
};

// Where a step's phases lie. Of networks that are trained in turns, as in a GAN, each has its own: what is
// between two of backward and optimizer's steps is forward of what comes next.
struct Phases {
  int64_t length = 0;             // of the step, in events
  std::vector<Window> forward;    // one for each backward pass; of a program that only runs forward, one
  std::vector<Window> backward;   // in order
  std::vector<Window> optimizer;  // in order, as those of the step
};

// A lever that inserts time moves the phases.
struct Scene : Phases {
  std::vector<Block> blocks;
  std::string settings;  // of the allocator
  std::vector<Position> empty_cache;
  std::vector<Again> again;        // in order
  bool optimizer_on_host = false;  // the device has neither its state nor what it computes
  uint32_t micro_batches = 1;  // of them, at most four are written out: the last stands for those behind it
};

// The recorded step as it was. `step` must outlive nothing: the scene is a copy.
[[nodiscard]] Scene MakeScene(const Step& step);

// The most bytes that live blocks ask for at one moment of a step behind the first, each rounded up to the
// allocator's 512.
struct Peak {
  uint64_t bytes = 0;
  Position at = 0;
  std::string phase;  // "forward", "backward", "optimizer" or "other"
  classify::CategoryBytes categories{};
};
[[nodiscard]] Peak PeakOf(const Scene& scene);
// The same bytes at one moment of it.
[[nodiscard]] uint64_t LiveAt(const Scene& scene, Position at);

// Four steps of the loop through PyTorch's caching allocator, from an empty one on.
struct Replayed {
  uint64_t reserved_peak = 0;
  uint64_t allocated_peak =
      0;  // as torch.cuda.max_memory_allocated counts it: with what was not worth splitting off
  uint64_t driver_calls = 0;   // segments asked for and given back in the last of the steps
  uint64_t reserved_then = 0;  // when most was allocated; `reserved_peak` is the most at any moment
};

// What the allocator shows from one of its events to the next.
struct UseAt {
  Position at = 0;  // within the step
  uint64_t allocated = 0;
  uint64_t reserved = 0;
  classify::CategoryBytes categories{};  // of `allocated`; they add up to it
};
// The replayed step in which most is allocated, the last of equals: its highest `allocated` is
// Replayed::allocated_peak, but where that is of what was there before the first step.
struct UseOverStep : Phases {  // of the scene
  std::vector<UseAt> points;   // in order; the first one is the step's begin
};

// `over_step` is filled where it is given: some 100 bytes for each event of the step. An error is one
// sentence: settings that the release refuses. When more than `most_reserved` bytes are reserved the replay
// ends there: its peaks are those so far.
[[nodiscard]] Result<Replayed> ReplayScene(const Scene& scene, const Step& step,
                                           UseOverStep* over_step = nullptr,
                                           uint64_t most_reserved = UINT64_MAX);

}  // namespace vramscope::whatif
