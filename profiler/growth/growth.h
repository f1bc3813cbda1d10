// SPDX-License-Identifier: Apache-2.0
// Finds memory that grows while a program trains: where it is allocated, since when, how much at a time, and
// what keeps it.
//
// All steps of a training loop are similar. So the blocks of a step are freed some steps later, except for
// blocks that are allocated only once. A block that is still alive at the end is a survivor. A place in the
// program grows if it leaves survivors again and again.
//
//   step        1   2   3   4   5   6   7   8   9  10
//   model       X                                        made once
//   cache       X   X   X                                growth that has settled
//   list        X   X   X   X   X   X   X   X   X   X    leak, every step
//   validation          X           X           X        leak, every 3 steps
//   prefetch                                    X   X    on its way: will be gone
//               └ warm-up ┘   └── judged ──────┘ └ tail
//
// A place leaks if it shows one of four signs:
//   every step     survivors of at least three judged steps, and of each third of the judged steps. So growth
//                  at every tenth step is found too, and growth that has ended is not
//   every n steps  survivors of about the same size at equal distances, three times or more, up to the end.
//                  One of the times may be in the tail
//   few steps      (a run of 3 to 6 steps) survivors of every step, or of every step except one; and more
//                  bytes after each of the last two steps. Prefetching leaves as many bytes as before
//   replaced       the place's bytes at the ends of the judged steps never fall, and rise in each third of
//                  the judged steps: x = torch.cat([x, y]) (replaced.h)
//
// Allocations between the end of a step and the next batch or forward count toward the step that ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/classify/analysis.h"
#include "profiler/timeline/curve.h"

namespace vramscope::growth {

enum class Keeper : uint8_t {
  kProgram,   // an object of the program: a list, a cache, a closure
  kGraph,     // an autograd graph that was not released, because the program keeps one of its tensors
  kCycle,     // a cycle inside autograd: a gradient whose graph leads back to its own tensor
  kReplaced,  // the program: one tensor that is created again in each step, larger than before
};

struct StepBytes {
  uint32_t step = 0;
  uint64_t bytes = 0;
  friend bool operator==(const StepBytes&, const StepBytes&) = default;
};

// One place that grows. Bytes are requested bytes, without the allocator's rounding and slack.
struct Growth {
  std::string line;    // the allocating line: "train.py:42 (forward)"; "" = no stacks were recorded
  std::string module;  // the allocating module; "" = unknown
  std::string op;
  timeline::Phase phase{};
  Keeper keeper{};
  bool pinned_host = false;  // page-locked host memory from the driver, not device memory
  uint32_t places = 1;       // for a graph: number of places in the program that create its tensors
  uint32_t as_in_step = 0;   // deep step from which the place is taken; 0 = it was recorded with the blocks
  uint32_t first_step = 0;   // the first step that left survivors
  uint32_t last_step = 0;
  uint32_t steps = 0;            // number of steps that left survivors
  uint32_t every = 0;            // distance in steps between two increases; 0 = irregular
  uint64_t blocks = 0;           // alive at the end
  uint64_t bytes = 0;            // alive at the end
  uint64_t bytes_each_time = 0;  // mean over the steps that left survivors
  uint64_t bytes_per_step = 0;   // bytes_each_time / every; if irregular, mean over all judged steps
  std::vector<StepBytes> kept;   // for each step that left survivors: its bytes that are alive at the end
};

struct Found {
  uint32_t steps = 0;  // finished steps
  uint32_t first_judged = 0;
  uint32_t last_judged = 0;
  std::vector<Growth> leaks;    // most bytes per step first
  std::vector<Growth> settled;  // grew, and stopped: warm-up and caches
  bool has_stacks = false;      // true if the line of any survivor is known
};

inline constexpr uint32_t kFewestSteps = 3;  // runs with fewer finished steps are not judged

// Finds the growth on the curve's device up to the state after event `until`, which is the event of a failure
// or EndOfTraining().
[[nodiscard]] Found FindGrowth(const classify::Analysis& analysis, const timeline::DeviceCurve& curve,
                               model::EventIndex until);

// The last event of the process's last finished step. Without finished steps: the last event of the trace.
[[nodiscard]] model::EventIndex EndOfTraining(const classify::Analysis& analysis,
                                              model::ProcessIndex process);

}  // namespace vramscope::growth
