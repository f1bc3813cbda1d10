// SPDX-License-Identifier: Apache-2.0
// What `vramscope whatif` says of a change from the run without it, to stand beside what is measured.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "profiler/cli/ask/try_change.h"

namespace vramscope::cli {

struct Predicted {
  std::string why_not;  // a sentence; empty = it was predicted, or nobody asked
  uint64_t allocated_bytes = 0;
  uint64_t reserved_bytes = 0;
  uint64_t allocated_at_most_bytes = 0;  // in 99 of 100 runs
  uint64_t reserved_at_most_bytes = 0;
  std::map<std::string, std::string> code;  // by lever: the lines to write

  [[nodiscard]] bool known() const { return allocated_bytes != 0; }
};

// `trace` is of the unchanged command, with operators of a step.
Predicted PredictChange(const Change& change, const std::string& trace);

}  // namespace vramscope::cli
