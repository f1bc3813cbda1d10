// SPDX-License-Identifier: Apache-2.0
// The answer to a what-if question: which levers were applied or refused, and what the peak was and becomes.
#pragma once

#include <string>
#include <vector>

#include "profiler/whatif/lever.h"
#include "profiler/whatif/published_errors.h"

namespace vramscope::whatif {

struct Asked {
  std::string lever;
  std::string value;
};

struct Use {
  Peak peak;           // of requests rounded to 512 bytes, and where it is
  Replayed allocator;  // what PyTorch's counters show
};

struct Applied {
  Asked asked;
  Outcome outcome;
};

struct Refused {
  Asked asked;
  std::string reason;
};

struct Prediction {
  Use before;
  Use after;
  std::vector<Applied> levers;
  std::vector<Refused> refused;  // when there is one, `after` is that of the others
  ErrorBand band;                // of `after`
};

// What is asked once for any number of predictions.
struct Baseline {
  Scene scene;
  Use use;
  const timeline::Training* training = nullptr;  // of the analysis
  uint64_t recorded_allocated = 0;  // highest counter of the recorded step, to hold the model against
};

// The analysis must outlive the baseline.
[[nodiscard]] Result<Baseline> MakeBaseline(const Step& step, const classify::Analysis& analysis);
// Levers are applied in the order of Levers(). An error only when the baseline's own settings cannot be
// modelled. `over_step`: as ReplayScene fills it, of the changed program.
[[nodiscard]] Result<Prediction> Predict(const Step& step, const Baseline& baseline, std::vector<Asked> asked,
                                         UseOverStep* over_step = nullptr);

}  // namespace vramscope::whatif
