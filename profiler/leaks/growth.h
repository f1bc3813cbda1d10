// SPDX-License-Identifier: Apache-2.0
// Memory that grows from step to step: where it is allocated, since when, how much of it, and what keeps it.
//
// All steps of a training loop are alike, so what a step allocates is gone some steps later, apart from what
// is made once. A block that was born in a step and is still there at the end is a survivor; a place in the
// program that leaves survivors in step after step leaks.
//
//   step        1   2   3   4   5   6   7   8   9  10
//   model       X                                        made once
//   cache       X   X   X                                growth that has settled
//   list        X   X   X   X   X   X   X   X   X   X    leak
//   prefetch                                    X   X    on its way: will be gone
//               └ warm-up ┘   └── judged ──────┘ └ tail
//
// A place leaks if it leaves survivors in at least three of the judged steps, and in each third of them: so
// that what happens at every tenth step is seen too, and what has ended is not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/classify/analysis.h"
#include "profiler/report/request.h"

namespace vramscope::leaks {

enum class Keeper : uint8_t {
  kProgram,  // some object of the program: a list, a cache, a closure
  kGraph,    // autograd, which was not let go: a tensor with its graph is kept
};

struct StepBytes {
  uint32_t step = 0;
  uint64_t bytes = 0;
  friend bool operator==(const StepBytes&, const StepBytes&) = default;
};

struct Growth {
  std::string line;    // where it is allocated: "train.py:42 (forward)"; "" = no stacks were recorded
  std::string module;  // of its birth; "" = not known
  std::string op;
  timeline::Phase phase{};
  Keeper keeper{};
  bool pinned_host = false;  // page-locked host memory that the driver gave, and none of the device
  uint32_t places = 1;       // of a graph: in how many places of the program its tensors are made
  uint32_t as_in_step = 0;   // the deep step that tells where; 0 = recorded with the blocks themselves
  uint32_t first_step = 0;   // that left survivors
  uint32_t last_step = 0;
  uint32_t steps = 0;   // that did, of all
  uint64_t blocks = 0;  // alive at the end
  uint64_t bytes = 0;
  uint64_t bytes_per_step = 0;  // mean of the judged steps
  std::vector<StepBytes> kept;  // of the steps that left survivors: how much of each is alive at the end
};

struct Answer {
  std::string device;
  uint32_t pid = 0;
  uint32_t steps = 0;  // finished ones
  uint32_t first_judged = 0;
  uint32_t last_judged = 0;
  int64_t bytes_per_step =
      0;  // by which the memory at the ends of the judged steps grows: slope of a least squares line
  std::vector<StepBytes> ends;  // allocated when a step ends; of all finished ones
  std::vector<Growth> leaks;    // most bytes per step first
  std::vector<Growth> settled;  // grew, and has stopped: warm-up and caches
  bool has_stacks = false;      // some line is known
};

inline constexpr uint32_t kFewestSteps = 7;  // two to warm up, three to judge, two on their way

// Of the device that the request names or means. Fails with a sentence when there is none, and when the run
// has fewer than kFewestSteps finished steps.
[[nodiscard]] Result<Answer> FindGrowth(const classify::Analysis& analysis, const report::Request& request);

// One JSON document; docs/json.md describes it.
[[nodiscard]] std::string ToJson(const Answer& answer);

}  // namespace vramscope::leaks
