// SPDX-License-Identifier: Apache-2.0
// Computes the memory use at moments that the recorded deep step does not represent. Such moments are a step
// with a longer sequence, the first step, an evaluation, and the setup.
//
// Even if a change makes the step smaller, the peak of the run cannot be lower than the use at such a moment.
//
//   allocated     ┌ setup ┐ step 1   2   3   4 │ evaluation        recorded step: 3, 205 MiB
//                                        ▄     │       ▄▟          larger step: 4, 30 MiB more
//                    ▄       ▟▙  ▟▙  ▟▙  █▙    │  ▄▄▟███           outside all steps: 525 MiB
//
// For a step that is larger than the recorded step, the difference between the two is added to the
// prediction. A moment outside all steps keeps its memory use, minus the parameters and optimizer state that
// the change saves.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {

struct RestOfRun {
  // The highest use among moments of one kind.
  struct Part {
    uint64_t allocated = 0;
    // Lower bound of the reserved bytes that these moments need, from a replay. If the recorded bytes are
    // higher than in all steps, they are used instead.
    uint64_t reserved = 0;
    std::string place;  // "evaluation after step 6"; "" = no such moment
  };
  Part steps;   // the step with the most allocated bytes
  Part before;  // before the first step
  Part later;   // after the first step: outside steps, or in an evaluation
};

// Returns the use at these moments. `step`: the recorded step. If the program only runs forward, `steps` is
// the peak of the whole run. O(changes).
[[nodiscard]] RestOfRun RestOf(const Step& step, const classify::Analysis& analysis);

// The memory use of the whole run after a change. `place`: the moment of the peak; "" = the step. The change
// turns the scene `was` into `is`. `recorded` and `now` are the use of the step before and after the change.
struct WholeUse {
  Replayed allocator;
  std::string place;
};
[[nodiscard]] WholeUse UseOfRun(const RestOfRun& rest, const Replayed& recorded, const Scene& was,
                                const Replayed& now, const Scene& is);

}  // namespace vramscope::whatif
