// SPDX-License-Identifier: Apache-2.0
// The prediction of `vramscope whatif` for a change. `vramscope try` prints the prediction next to the
// measured figures.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "profiler/experiment/try/try_change.h"

namespace vramscope::experiment {

struct Predicted {
  std::string why_not;  // reason why there is no prediction, a sentence; empty = predicted, or not requested
  uint64_t allocated_bytes = 0;
  uint64_t reserved_bytes = 0;
  uint64_t allocated_at_most_bytes = 0;  // holds in 99 of 100 runs
  uint64_t reserved_at_most_bytes = 0;
  std::map<std::string, std::string> code;  // lines of Python code to write, by lever

  [[nodiscard]] bool known() const { return allocated_bytes != 0; }
};

// `trace` is the trace of the unchanged command. The trace must contain the operators of one step.
Predicted PredictChange(const Change& change, const std::string& trace);

}  // namespace vramscope::experiment
