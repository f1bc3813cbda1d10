// SPDX-License-Identifier: Apache-2.0
// Memory that grows while a program trains: where it is allocated, since when, how much at a time, and what
// keeps it.
//
// All steps of a training loop are alike. So what a step allocates is freed some steps later, except for what
// is allocated only once. A block that is still alive at the end is a survivor. A place in the program grows
// if it leaves survivors again and again.
//
//   step        1   2   3   4   5   6   7   8   9  10
//   model       X                                        made once
//   cache       X   X   X                                growth that has settled
//   list        X   X   X   X   X   X   X   X   X   X    leak, every step
//   validation          X           X           X        leak, every 3 steps
//   prefetch                                    X   X    on its way: will be gone
//               └ warm-up ┘   └── judged ──────┘ └ tail
//
// A place leaks by one of four signs:
//   every step     survivors of at least three judged steps, and of each third of them: what happens at every
//                  tenth step is seen too, and what has ended is not
//   every n steps  three times or more of the same size, at equal distances, up to now; one may be in the
//                  tail
//   few steps      (a run of 3 to 6) survivors of all steps but one, and more of them after each of the last
//                  three: prefetching leaves as many as before
//   replaced       what the place has at the ends of the judged steps never falls, and rises in each third of
//                  them: x = torch.cat([x, y]) (replaced.h)
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
  kProgram,   // some object of the program: a list, a cache, a closure
  kGraph,     // autograd, because a graph was not released: a tensor with its graph is kept
  kCycle,     // autograd alone: a gradient with a graph that leads back to its own tensor
  kReplaced,  // the program: one tensor that is created anew in each step, larger than before
};

struct StepBytes {
  uint32_t step = 0;
  uint64_t bytes = 0;
  friend bool operator==(const StepBytes&, const StepBytes&) = default;
};

// Bytes are those that tensors requested, without what the allocator adds.
struct Growth {
  std::string line;    // where it is allocated: "train.py:42 (forward)"; "" = no stacks were recorded
  std::string module;  // in which it was allocated; "" = unknown
  std::string op;
  timeline::Phase phase{};
  Keeper keeper{};
  bool pinned_host = false;  // page-locked host memory from the driver, not device memory
  uint32_t places = 1;       // for a graph: number of places in the program that create its tensors
  uint32_t as_in_step = 0;   // the deep step that shows where; 0 = recorded with the blocks themselves
  uint32_t first_step = 0;   // the first step that left survivors
  uint32_t last_step = 0;
  uint32_t steps = 0;   // number of all steps that left survivors
  uint32_t every = 0;   // steps between two times; 0 = irregular
  uint64_t blocks = 0;  // alive at the end
  uint64_t bytes = 0;
  uint64_t bytes_each_time = 0;  // mean over the steps that left something
  uint64_t bytes_per_step = 0;   // mean over all judged steps
  std::vector<StepBytes> kept;   // for each step that left survivors: how much of it is alive at the end
};

struct Found {
  uint32_t steps = 0;  // finished steps
  uint32_t first_judged = 0;
  uint32_t last_judged = 0;
  std::vector<Growth> leaks;    // most bytes per step first
  std::vector<Growth> settled;  // grew, and stopped: warm-up and caches
  bool has_stacks = false;      // the line of some survivor is known
};

inline constexpr uint32_t kFewestSteps = 3;  // finished steps; runs with fewer are not judged

// What has grown on the curve's device up to the state after event `until`: the moment of a failure, or
// EndOfTraining().
[[nodiscard]] Found FindGrowth(const classify::Analysis& analysis, const timeline::DeviceCurve& curve,
                               model::EventIndex until);

// The last event of the process's last finished step; without one, the last event of the trace.
[[nodiscard]] model::EventIndex EndOfTraining(const classify::Analysis& analysis,
                                              model::ProcessIndex process);

}  // namespace vramscope::growth
