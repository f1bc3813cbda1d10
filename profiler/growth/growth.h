// SPDX-License-Identifier: Apache-2.0
// Finds places in the program whose memory grows during training. For each place, reports the first step, the
// bytes per step, and what keeps the memory alive.
//
// A survivor is a block that is still alive at the end. A place grows if many of its steps leave survivors.
// Judged steps are the steps that are examined: without the warm-up (the first two steps) and the tail (the
// last two), whose blocks may still be freed. Runs with fewer than seven steps have no warm-up and no tail.
//
//   step        1   2   3   4   5   6   7   8   9  10
//   model       X                                        made once
//   cache       X   X   X                                growth that has settled
//   list        X   X   X   X   X   X   X   X   X   X    leak, every step
//   validation          X           X           X        leak, every 3 steps
//   prefetch                                    X   X    still in use: will be freed
//              warm-up    └────── judged ──────┘  └tail┘
//
// A place leaks if it shows one of four signs:
//   every step     survivors of at least three judged steps, and of each third of the judged steps
//   every n steps  survivors of about equal size at equal distances, three times or more, up to the end
//   few steps      (a run of 3 to 6 steps) survivors of every step, or of every step except one, and more
//                  bytes after each of the last two steps
//   replaced       the place's bytes at the ends of the judged steps never fall, and rise in each third of
//                  the judged steps: x = torch.cat([x, y]) (replaced.h)
//
// Allocations between two steps count toward the step that ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/classify/analysis.h"
#include "profiler/timeline/curve.h"

namespace vramscope::growth {

enum class Keeper : uint8_t {
  kProgram,   // an object of the program: a list, a cache, a closure
  kGraph,     // an autograd graph, because the program keeps one of its tensors
  kCycle,     // a reference cycle: the graph of a tensor's gradient leads back to the tensor
  kReplaced,  // a tensor that each step replaces by a larger one
};

struct StepBytes {
  uint32_t step = 0;
  uint64_t bytes = 0;
  friend bool operator==(const StepBytes&, const StepBytes&) = default;
};

// One place that grows. Bytes are requested bytes.
struct Growth {
  std::string line;    // "train.py:42 (forward)"; "" = no stacks were recorded
  std::string module;  // "" = unknown
  std::string op;
  timeline::Phase phase{};
  Keeper keeper{};
  bool pinned_host = false;  // true: page-locked host memory; false: device memory
  uint32_t places = 1;       // for a graph: number of places that create its tensors
  uint32_t as_in_step = 0;   // deep step in which the place was recorded; 0 = the blocks' own steps
  uint32_t first_step = 0;   // first step with survivors
  uint32_t last_step = 0;
  uint32_t steps = 0;            // number of steps with survivors
  uint32_t every = 0;            // steps between two increases; 0 = irregular
  uint64_t blocks = 0;           // alive at the end
  uint64_t bytes = 0;            // alive at the end
  uint64_t bytes_each_time = 0;  // mean over the steps with survivors
  uint64_t bytes_per_step = 0;   // bytes_each_time / every; if irregular, the mean over all judged steps
  std::vector<StepBytes> kept;   // by step of the allocation: bytes alive at the end
};

// All growth on one device.
struct Found {
  uint32_t steps = 0;  // number of finished steps
  uint32_t first_judged = 0;
  uint32_t last_judged = 0;
  std::vector<Growth> leaks;    // most bytes per step first
  std::vector<Growth> settled;  // growth that has ended, such as warm-up and caches
  bool has_stacks = false;
};

inline constexpr uint32_t kFewestSteps = 3;  // runs with fewer finished steps are not judged

// Finds growth on the device of `curve`, in the state after the event `until`. `until` is the event of a
// failure, or EndOfTraining().
[[nodiscard]] Found FindGrowth(const classify::Analysis& analysis, const timeline::DeviceCurve& curve,
                               model::EventIndex until);

// Returns the last event of the last finished step of the process. Without finished steps, returns the last
// event of the trace.
[[nodiscard]] model::EventIndex EndOfTraining(const classify::Analysis& analysis,
                                              model::ProcessIndex process);

}  // namespace vramscope::growth
