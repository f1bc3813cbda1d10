// SPDX-License-Identifier: Apache-2.0
// Memory use at moments that the recorded deep step does not represent. Examples: a longer sequence, the
// first step, an evaluation, the setup.
//
// A change to the step cannot reduce the peak below such a moment.
//
//   allocated     ┌ setup ┐ step 1   2   3   4 │ evaluation        the step: 3, with 205 MiB
//                                        ▄     │       ▄▟          a larger step: 4, 30 MiB more
//                    ▄       ▟▙  ▟▙  ▟▙  █▙    │  ▄▄▟███           outside of steps: 525 MiB
//
// A larger step keeps its difference to the recorded step. A moment outside all steps keeps its use, less the
// change's savings in parameters and optimizer state.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

struct RestOfRun {
  // The highest use among moments of one kind.
  struct Part {
    uint64_t allocated = 0;
    uint64_t reserved = 0;  // the least that these moments need; as recorded if more than in the steps
    std::string place;      // "evaluation after step 6"; "" = no such moment
  };
  Part steps;   // the step with the highest allocation
  Part before;  // before the first step
  Part later;   // outside steps, or in an evaluation between two steps
};

// `step`: of a training loop. If the program only runs forward, `steps` is the whole run. O(changes).
[[nodiscard]] RestOfRun RestOf(const Step& step, const classify::Analysis& analysis);

// Use of the whole run after a change. `recorded` and `now`: use of the step before and after the change that
// turned scene `was` into `is`. `place`: the moment of the peak; "" = the step.
struct WholeUse {
  Replayed allocator;
  std::string place;
};
[[nodiscard]] WholeUse UseOfRun(const RestOfRun& rest, const Replayed& recorded, const Scene& was,
                                const Replayed& now, const Scene& is);

}  // namespace vramscope::whatif
