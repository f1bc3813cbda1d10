// SPDX-License-Identifier: Apache-2.0
// What the run takes at moments that the recorded deep step does not stand for.
//
// Why: a change is computed on one step, and the peak of the run may lie elsewhere: in a step with a longer
// sequence, in the first step, in an evaluation that keeps its predictions, while the model is built. A
// change to the step cannot bring the run below what such a moment takes.
//
//   allocated     ┌ setup ┐ step 1   2   3   4 │ evaluation        the step: 3, as 205 MiB
//                                        ▄     │       ▄▟          a larger step: 4, 30 MiB more
//                    ▄       ▟▙  ▟▙  ▟▙  █▙    │  ▄▄▟███           outside of steps: 525 MiB
//
// A larger step keeps what it has more than the recorded one. A moment outside of all steps keeps what it
// takes, but for what the change takes from the memory that is there all the time: parameters and optimizer
// state.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

struct RestOfRun {
  // The most that is held at once at moments of one kind.
  struct Part {
    uint64_t allocated = 0;
    uint64_t reserved =
        0;              // at the least, so that this is served; as recorded where the run took more for it
    std::string place;  // "evaluation after step 6"; "" = there is no such moment
  };
  Part steps;   // the step in which most is allocated
  Part before;  // before the first step
  Part later;   // outside of steps, or in an evaluation between two
};

// `step` is of a training loop; of a program that only runs forward `steps` is the whole run. O(changes).
[[nodiscard]] RestOfRun RestOf(const Step& step, const classify::Analysis& analysis);

// What the whole run takes when its step takes `now`, and took `recorded` before it was changed from scene
// `was` to `is`. `place` is which moment decides; "" = the step.
struct WholeUse {
  Replayed allocator;
  std::string place;
};
[[nodiscard]] WholeUse UseOfRun(const RestOfRun& rest, const Replayed& recorded, const Scene& was,
                                const Replayed& now, const Scene& is);

}  // namespace vramscope::whatif
