// SPDX-License-Identifier: Apache-2.0
// A scene: the model of a training loop, in which each block has a begin and an end in time. Levers (changes,
// docs/glossary.md) change the scene, and predictions are computed from it.
//
// All steps of the loop are equal, so the scene describes only one step. If the next step frees a block, the
// block's end is greater than the step's length.
//
//   position 0                  length                  2 x length
//   setup      ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━▶   parameters: exist before the first step
//   once              ┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━▶   optimizer state: made in the first step
//   each step     ├─activation─┤         ├─activation─┤
//                     ├─gradient──┼─┤        ├─gradient──┼─┤      freed by the next step's zero_grad
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// When a block is allocated: before the loop, only in the first step, or in each step.
enum class Birth : uint8_t { kSetup, kOnce, kEachStep };

struct Block {
  Position begin = 0;       // kSetup: less than 0
  Position end = kForever;  // kEachStep: at most the end of the next step
  uint64_t bytes = 0;       // as requested, not rounded
  BlockIndex origin;        // the block of the recorded step, or the block that this block is a copy of
  Birth birth = Birth::kEachStep;
  classify::Category category = classify::Category::kUnattributed;
  uint16_t stream = 0;
  bool but_in_first = false;  // kEachStep: the first step does not allocate this block
  bool piles_up = false;      // kEachStep: the block is never freed, so that each step adds one

  // True if the block is freed before the loop or in its first steps. It matters only because it leaves a
  // hole in a segment.
  [[nodiscard]] bool Passes() const { return birth != Birth::kEachStep && end < kForever; }
};

// Number of steps that a replay runs, starting with an empty allocator. replay_scene.cc explains the number.
inline constexpr uint32_t kReplayedSteps = 4;

// A part of forward that backward recomputes. Autograd saves only the inputs of this part.
struct Again {
  Position begin = 0;     // begin of the part in forward
  Position end = 0;       // end of the part in forward
  Position at = 0;        // begin of the recomputation in backward
  Position released = 0;  // when the part's last autograd node has released its saved tensors
  Position unwound = 0;   // when the recomputing function has returned
  // Inputs (blocks of the step) that live longer because a module keeps their autograd graph, and until when.
  std::vector<std::pair<BlockIndex, Position>> held;
};

// The phases of a step. If a program trains several networks in one step, as a GAN does, each network has its
// own phases. All time between two backward passes or optimizer steps is the forward phase of the next
// backward pass.
struct Phases {
  int64_t length = 0;             // length of the step, in events
  std::vector<Window> forward;    // one per backward pass; only one if the step has no backward pass
  std::vector<Window> backward;   // in order
  std::vector<Window> optimizer;  // in order
};

// A lever that inserts time into the step also moves the phases.
struct Scene : Phases {
  std::vector<Block> blocks;
  std::string settings;               // settings of the allocator
  std::vector<Position> empty_cache;  // calls of torch.cuda.empty_cache()
  std::vector<Again> again;           // in order
  bool optimizer_on_host = false;     // true if optimizer state and its temporaries are not on the device
  uint32_t micro_batches = 1;         // `blocks` has at most four; the fourth represents all later ones
};

// Returns the scene of the recorded step, without changes. The scene does not refer to `step`.
[[nodiscard]] Scene MakeScene(const Step& step);

// The highest number of live bytes in a step after the first step. Each block is rounded up to 512 bytes.
struct Peak {
  uint64_t bytes = 0;
  Position at = 0;
  std::string phase;  // "forward", "backward", "optimizer" or "other"
  classify::CategoryBytes categories{};
};
[[nodiscard]] Peak PeakOf(const Scene& scene);
// Returns the live bytes at one moment, computed as in PeakOf.
[[nodiscard]] uint64_t LiveAt(const Scene& scene, Position at);

// The counters of PyTorch's caching allocator after a replay of kReplayedSteps steps, starting with an empty
// allocator.
struct Replayed {
  uint64_t reserved_peak = 0;   // highest reserved bytes at any moment
  uint64_t allocated_peak = 0;  // equals torch.cuda.max_memory_allocated(); includes the rounding of blocks
  uint64_t driver_calls = 0;    // number of segments that the last step allocated and freed
  uint64_t reserved_then = 0;   // reserved bytes at the moment of `allocated_peak`
};

// The allocator's counters after an event. They are valid until the next event.
struct UseAt {
  Position at = 0;  // position in the step
  uint64_t allocated = 0;
  uint64_t reserved = 0;
  classify::CategoryBytes categories{};  // sums to `allocated`
};
// The memory use over the replayed step with the highest peak of allocated bytes; the last such step if
// several have it. The highest `allocated` equals Replayed::allocated_peak, unless the peak of the replay was
// before the first step.
struct UseOverStep : Phases {  // the phases of the scene
  std::vector<UseAt> points;   // in order, from the start of the step
};

// Replays the scene through the model of PyTorch's caching allocator. If `over_step` is not nullptr, it gets
// the memory use over the step, about 100 bytes per event. Returns an error if the PyTorch release does not
// accept the allocator settings. If more than `most_reserved` bytes are reserved, stops and returns the peaks
// so far.
[[nodiscard]] Result<Replayed> ReplayScene(const Scene& scene, const Step& step,
                                           UseOverStep* over_step = nullptr,
                                           uint64_t most_reserved = UINT64_MAX);

}  // namespace vramscope::whatif
