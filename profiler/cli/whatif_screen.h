// SPDX-License-Identifier: Apache-2.0
// Predictions as text and as JSON (docs/json.md).
#pragma once

#include <string>
#include <vector>

#include "profiler/cli/terminal.h"
#include "profiler/whatif/predict.h"

namespace vramscope::cli {

// One set of changes, and what came of it. `title` is how it was asked for.
struct WhatifCase {
  std::string title;
  whatif::Prediction prediction;
};

struct WhatifAnswer {
  std::string path;
  const whatif::Step* step = nullptr;
  const whatif::Baseline* baseline = nullptr;
  std::vector<WhatifCase> cases;  // the first is what the options ask for; more of a sweep or a comparison
  bool table = false;             // a sweep or a comparison
};

[[nodiscard]] std::string WhatifText(const WhatifAnswer& answer, const Terminal& terminal);
[[nodiscard]] std::string WhatifJson(const WhatifAnswer& answer);

}  // namespace vramscope::cli
